package explore

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A walk makes the moves that have been made rarely, and does not forget the others.
func TestWalksMakeRareMoves(t *testing.T) {
	moves := []move{{text: "time passes"}, {text: "often"}, {text: "seldom"}}
	chosen := map[int]int{}
	for seed := range uint64(1000) {
		var walked choices
		choose := wander(seed, counts{"often": 9}, &walked)
		for step := range 100 {
			if i := choose(step, moves); i > 0 {
				require.Equal(t, deviation{step, i}, walked[len(walked)-1])
				chosen[i]++
			}
		}
	}
	require.InDelta(t, 10, float64(chosen[2])/float64(chosen[1]), 2)
}

// The walks do not depend on which of several workers is the faster one.
func TestTheSameWalksEachTime(t *testing.T) {
	if raced {
		t.Skip("the race detector runs goroutines in a random order")
	}
	if workFor(t, plantedLock(nothing, 2)) {
		t.Skip("this process is a worker")
	}
	const walks = walksAtOnce + 5
	made := func(workers int) counts {
		se := &search{limits: Limits{Schedules: walks}, begun: time.Now(), made: counts{}, crew: newCrew(t, workers)}
		defer se.crew.close()
		se.walkAtRandom()
		require.Nil(t, se.failure)
		require.Equal(t, walks, se.tally.walks)
		return se.made
	}
	one := made(1)
	require.NotEmpty(t, one)
	require.Equal(t, one, made(2))
}
