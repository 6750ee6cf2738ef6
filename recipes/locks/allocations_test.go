package locks_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// allocationsOfTheFake is how many of the allocations of an acquire and release
// are the fake server's, which runs in the same process.
const allocationsOfTheFake = 60

// mostAllocations has some room: it was 68 with Go 1.26, and the race detector
// takes one more.
const mostAllocations = 75

// An acquire and release of a lock that nobody else wants, with all that the
// client's goroutines do for it.
func TestAllocationsOfACycle(t *testing.T) {
	srv := zktest.Start(t)
	c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()), framework.WithRecentEvents(50))
	require.NoError(t, err)
	defer c.Close()
	mutex := locks.NewInterProcessMutex(c, "/locks/a")
	for range 100 { // the flight recorder's rings are full then
		cycle(t, t.Context(), mutex)
	}
	allocations := testing.AllocsPerRun(200, func() { cycle(t, t.Context(), mutex) })
	require.LessOrEqual(t, allocations, float64(allocationsOfTheFake+mostAllocations))
}
