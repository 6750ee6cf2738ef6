package locks_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// mostAllocations has some room, for another version of Go, and for frames that are
// not read together: it was 93 with Go 1.26. About 60 of them are the fake server's,
// which runs in the same process.
const mostAllocations = 105

// An acquire and release of a lock that nobody else wants, with all that the
// client's goroutines do for it. In virtual time, no ping comes between.
func TestAllocationsOfACycle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()))
		require.NoError(t, err)
		defer c.Close()
		mutex := locks.NewInterProcessMutex(c, "/locks/a")
		cycle(t, t.Context(), mutex) // makes the parents
		allocations := fewestAllocations(func() { cycle(t, t.Context(), mutex) })
		require.LessOrEqual(t, allocations, float64(mostAllocations))
	})
}

// mostCachedAllocations is how many there are.
const mostCachedAllocations = 7

// An acquire and release of a cached lock that nobody else wants, whose node is
// there. It makes no request.
func TestAllocationsOfACachedReacquire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()))
		require.NoError(t, err)
		defer c.Close()
		mutex := locks.NewInterProcessMutex(c, "/locks/a", idleFor(10_000, time.Hour))
		cycle(t, t.Context(), mutex) // makes the parents
		srv.ClearRequests()
		allocations := fewestAllocations(func() { cycle(t, t.Context(), mutex) })
		require.LessOrEqual(t, allocations, float64(mostCachedAllocations))
		require.Empty(t, srv.Requests())
	})
}

// fewestAllocations is how many f makes. The runtime counts all goroutines, and what
// is left of an earlier test may end meanwhile.
func fewestAllocations(f func()) float64 {
	fewest := testing.AllocsPerRun(200, f)
	for range 4 {
		fewest = min(fewest, testing.AllocsPerRun(200, f))
	}
	return fewest
}
