//go:build go1.26

package explore

import (
	"crypto/rand"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/random"
)

func TestTheSameRandomNumbersEachTime(t *testing.T) {
	if raced {
		t.Skip("the race detector runs goroutines in a random order")
	}
	s := alone(func(_ *World, a *Actor) {
		for _, b := range []byte(rand.Text()[:4]) {
			time.Sleep(time.Duration(b))
			a.Pause("waits")
		}
		time.Sleep(random.Duration(time.Hour))
		a.Pause("waits for longer")
	})
	if workFor(t, s) {
		t.Skip("this process is a worker")
	}
	c := newCrew(t, 2)
	defer c.close()
	first := c.playOne(nil).Steps
	for range 3 { // in the one process, and in the other
		require.Equal(t, first, c.playOne(nil).Steps)
	}
}
