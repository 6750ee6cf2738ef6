package snapshot_test

import (
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// collect runs the garbage collector until a condition holds, but not for ever.
func collect(t *testing.T, until func() bool) {
	t.Helper()
	for range 100 {
		runtime.GC()
		time.Sleep(time.Second) // of virtual time, for what runs in the background
		if until() {
			return
		}
	}
	t.Fatal("nothing is collected")
}

// drop acquires a lock, and keeps nothing of the lease.
func drop(t *testing.T, lock locks.Locker) weak.Pointer[locks.Lease] {
	t.Helper()
	lease, err := lock.Acquire(t.Context())
	require.NoError(t, err)
	return weak.Make(lease)
}

// The record of a lock that is held does not keep its lease.
func TestTheRecordKeepsNoLease(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, _ *zktest.Server, _ *zktest.Host, c *framework.Client) {
		lease := drop(t, locks.NewInterProcessMutex(c, "/lock"))
		collect(t, func() bool { return lease.Value() == nil })
		require.Equal(t, 1, one(t, c).Holds.Total)
		require.Empty(t, one(t, c).Holds.Items[0].Lost)
	})
}

// A cache that has ended by itself is shown, and takes no memory for its nodes.
func TestTheRecordKeepsNoCacheThatHasEnded(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, _ *zktest.Host, c *framework.Client) {
		ended := func() weak.Pointer[cache.Cache] { return weak.Make(endedCache(t, srv, c)) }()
		collect(t, func() bool { return ended.Value() == nil })
		require.Equal(t, "/rates", one(t, c).Caches.Items[0].Root)
	})
}
