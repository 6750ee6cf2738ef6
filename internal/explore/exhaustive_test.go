package explore

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// two pauses of two actors have few courses, which can be counted by hand.
func twoPauses(w *World) {
	for _, name := range []string{"A", "B"} {
		w.Actor(name, func(a *Actor) { a.Pause("waits") })
	}
}

func TestEveryCourseIsPlayed(t *testing.T) {
	played, f := find(t, twoPauses, Limits{Deviations: 1, Workers: 1})
	require.Nil(t, f)
	require.Equal(t, 1, played.complete)
	// First A's pause is the next: it may come later, when nothing else is under
	// way, after a time, or A may lose its session in three ways, or close its client.
	// Then B's is, with the same moves but for "later".
	require.Equal(t, 1+7+6, played.schedules)

	played, f = find(t, twoPauses, Limits{Deviations: 1, Schedules: 3, Workers: 1})
	require.Nil(t, f)
	require.Equal(t, 3, played.schedules)
	require.Equal(t, 0, played.complete)
}

func TestTheSameChoicesTheSameStates(t *testing.T) {
	if raced {
		t.Skip("the race detector runs goroutines in a random order")
	}
	s := plantedLock(nothing, 2)
	if workFor(t, s) {
		t.Skip("this process is a worker")
	}
	c := newCrew(t, 1)
	defer c.close()
	for step := range 10 {
		run := choices{{step, 1}, {2 * (step + 1), 2}}
		once := c.playOne(run)
		require.Empty(t, once.Failure)
		require.Equal(t, once.Steps, c.playOne(run).Steps)
	}
}
