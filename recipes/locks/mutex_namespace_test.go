package locks_test

import (
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
)

// Two views of the same node are one lock. A caller that holds the lock
// through one view does not wait for itself through the other.
func TestLockIsTheSameThroughEveryNamespace(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		view, err := c.Namespace(path)
		require.NoError(t, err)
		lease := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(view, "/lock"))
		again, err := locks.NewInterProcessMutex(c, path+"/lock").TryAcquire(lease.Context())
		require.NoError(t, err)
		require.Equal(t, lease.FencingToken(), again.FencingToken())
		require.Len(t, w.WaitNodes(t, path+"/lock", 1), 1)

		_, err = locks.NewInterProcessMutex(c, path+"/lock").TryAcquire(ctx)
		require.ErrorIs(t, err, locks.ErrNotAcquired, "any other caller")
		other := locktest.Acquire(t, lease.Context(), locks.NewInterProcessMutex(c, path+"-lock"))
		require.NotEqual(t, lease.FencingToken(), other.FencingToken(), "the same path in another view is another lock")
		same := locktest.Acquire(t, lease.Context(), locks.NewInterProcessMutex(view, path+"/lock"))
		require.NotEqual(t, lease.FencingToken(), same.FencingToken(), "and so is the same text in a namespace")

		require.NoError(t, same.Release(ctx))
		require.NoError(t, other.Release(ctx))
		require.NoError(t, again.Release(ctx))
		require.NoError(t, lease.Release(ctx))
		w.NothingLeft(t, path+"/lock")
	})
}

// Promise: Checks hold in a transaction of any view of the client, as long as the lease
// does.
func TestChecksAreForEveryNamespace(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		a, err := c.Namespace(path + "/a")
		require.NoError(t, err)
		b, err := c.Namespace(path + "/b")
		require.NoError(t, err)
		both := locks.NewInterProcessMultiLock(locks.NewInterProcessMutex(a, "/lock"), locks.NewInterProcessSemaphore(b, "/lock", locks.Limit(1)))
		lease, err := both.Acquire(ctx)
		require.NoError(t, err)
		again := locktest.Acquire(t, lease.Context(), locks.NewInterProcessMutex(c, path+"/a/lock"))
		for _, view := range []*framework.Client{a, b, c} {
			for _, of := range []*locks.Lease{lease, again} {
				_, err := view.Transaction(ctx, of.Checks()...)
				require.NoError(t, err)
			}
		}
		require.NoError(t, again.Release(ctx))
		checks := lease.Checks()
		require.Len(t, checks, 2)
		require.NoError(t, lease.Release(ctx))
		for _, view := range []*framework.Client{a, b, c} {
			_, err := view.Transaction(ctx, append(checks, framework.CreateOp("/late", nil))...)
			require.ErrorIs(t, err, zk.ErrNoNode)
		}
	})
}
