package snapshot_test

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/curatortest"
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

// A lease that was dropped can never be released. If its lock is lost, nothing
// is left to show, and nothing stays in memory.
func TestLostLeasesThatWereDroppedLeaveTheList(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, _ *zktest.Host, c *framework.Client) {
		for _, lock := range []locks.Locker{
			locks.NewInterProcessMutex(c, "/mutex"),
			locks.NewInterProcessReadWriteLock(c, "/rw").ReadLock(),
			locks.NewInterProcessSemaphore(c, "/semaphore", locks.Limit(3)),
			locks.NewInterProcessMultiLock(locks.SortedMutexes(c, []string{"/a", "/b"})...),
		} {
			drop(t, lock)
		}
		kept, err := locks.NewInterProcessMutex(c, "/kept").Acquire(t.Context())
		require.NoError(t, err)
		time.Sleep(time.Minute)
		runtime.GC()
		require.Equal(t, 6, one(t, c).Holds.Total, "these locks are held, whoever has a lease")

		srv.Session(c.SessionID()).Expire()
		<-kept.Context().Done()
		collect(t, func() bool { return one(t, c).Holds.Total == 1 })
		hold := one(t, c).Holds.Items[0]
		require.Equal(t, "/kept", hold.Path)
		require.Contains(t, hold.Lost, "session lost")
		require.ErrorIs(t, kept.Release(t.Context()), framework.ErrSessionLost)
		require.Zero(t, one(t, c).Holds.Total)
	})
}

// The node of a lock may outlive the trust in it, and keep others waiting until
// the lease is released, or the session ends.
func TestLostLeasesWhoseNodesExistStayInTheList(t *testing.T) {
	for name, tt := range map[string]struct {
		opts  []locks.MutexOption
		lose  func(t *testing.T, srv *zktest.Server, node string)
		cause string
	}{
		"revoked": {[]locks.MutexOption{locks.WithRevocation()}, func(t *testing.T, srv *zktest.Server, node string) {
			require.NoError(t, locks.Revoke(t.Context(), curatortest.Connect(t, srv), node))
		}, "revoked"},
		"suspended": {nil, func(_ *testing.T, srv *zktest.Server, _ string) { srv.CutAll() }, "suspended"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := zktest.Start(t)
				c := curatortest.Connect(t, srv, framework.WithErrorPolicy(state.StandardPolicy))
				lease := drop(t, locks.NewInterProcessMutex(c, "/lock", tt.opts...))
				node := "/lock/" + one(t, c).Holds.Items[0].Node
				tt.lose(t, srv, node)
				collect(t, func() bool { return lease.Value() == nil })
				runtime.GC()
				require.Equal(t, 1, one(t, c).Holds.Total)
				require.Contains(t, one(t, c).Holds.Items[0].Lost, tt.cause)
				require.True(t, exists(srv, node))

				srv.Session(c.SessionID()).Expire()
				collect(t, func() bool { return one(t, c).Holds.Total == 0 })
			})
		})
	}
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
