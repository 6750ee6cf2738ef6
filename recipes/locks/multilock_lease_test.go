package locks_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// The lease of several locks behaves like any other lease.
func TestLeaseOfSeveralLocks(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		mutex := locks.NewInterProcessMutex(c, path+"-mutex")
		semaphore := locks.NewInterProcessSemaphore(c, path+"-semaphore", locks.Limit(3))
		both := locks.NewInterProcessMultiLock(mutex, semaphore)
		lease, err := both.Acquire(ctx)
		require.NoError(t, err)

		parts := lease.Leases()
		require.Len(t, parts, 2)
		require.Equal(t, parts[0].Path(), lease.Path(), "the first lock's")
		require.Equal(t, parts[1].FencingToken(), lease.FencingToken(), "the last lock's")
		require.Greater(t, parts[1].FencingToken(), parts[0].FencingToken())
		require.Equal(t, []*locks.Lease{parts[0]}, parts[0].Leases(), "one lock's is itself")
		_, err = c.Transaction(ctx, append(lease.Checks(), framework.CreateOp(path+"-guarded", nil))...)
		require.NoError(t, err)

		found, ok := locks.LeaseFromContext(lease.Context())
		require.True(t, ok)
		require.Same(t, lease, found)
		all, err := both.Participants(ctx)
		require.NoError(t, err)
		require.Len(t, all, 2)
		require.Equal(t, lease.Path(), all[0].Path)
		require.Equal(t, parts[1].Path(), all[1].Path)
		require.True(t, all[0].Holder && all[1].Holder)

		require.NoError(t, lease.Release(ctx))
		require.ErrorIs(t, lease.Release(ctx), locks.ErrReleased)
		_, err = c.Transaction(ctx, append(lease.Checks(), framework.CreateOp(path+"-late", nil))...)
		require.Error(t, err)
		w.NothingLeft(t, path+"-mutex")
		w.NothingLeft(t, path+"-semaphore/leases")
	})
}

// A revocation request for one of several locks reaches the holder of all.
func TestAnyLockOfSeveralMayBeAskedFor(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		paths := []string{path + "-a", path + "-b"}
		for i := range paths {
			lease, err := locks.NewInterProcessMultiLock(locks.SortedMutexes(c, paths)...).Acquire(ctx)
			require.NoError(t, err)
			revoked := lease.Revoked()
			require.False(t, recipetest.IsClosed(revoked))
			require.NoError(t, locks.Revoke(ctx, w.Observer, lease.Leases()[i].Path()))
			<-revoked
			require.NoError(t, lease.Context().Err(), "it is only asked")
			require.NoError(t, lease.Release(ctx))
		}
	})
}

// The connection breaks while the first of the locks is given back. That ends no
// lease, because all have been released.
func TestReleaseOfSeveralLocksIsNotALoss(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t, framework.WithErrorPolicy(state.StandardPolicy))
		m := locks.NewInterProcessMultiLock(
			locks.NewInterProcessMutex(c, "/l/a"),
			locks.NewInterProcessMultiLock(locks.NewInterProcessMutex(c, "/l/b"), locks.NewInterProcessMutex(c, "/l/c")),
		)
		lease := locktest.Acquire(t, w.Patience(t), m)
		w.Fake.Inject(zktest.Rule{Op: zktest.OpDelete, Session: c.SessionID(), Do: zktest.DropReply()})
		require.NoError(t, lease.Release(t.Context()))
		for _, one := range lease.Leases() {
			require.ErrorIs(t, context.Cause(one.Context()), locks.ErrReleased)
		}
		require.ErrorIs(t, lease.Release(t.Context()), locks.ErrReleased)
	})
}
