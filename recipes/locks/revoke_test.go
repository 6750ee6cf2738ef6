package locks_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

func TestHolderIsAskedToGiveTheLockUp(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		other, _ := w.Connect(t)
		lease := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(c, path))
		asked := lease.Revoked()
		next := locktest.AcquireLater(ctx, locks.NewInterProcessMutex(other, path))
		w.WaitNodes(t, path, 2)

		holders, err := locks.NewInterProcessMutex(other, path).Participants(ctx)
		require.NoError(t, err)
		require.True(t, holders[0].Holder)
		require.NoError(t, locks.Revoke(ctx, other, holders[0].Path))
		<-asked
		require.NoError(t, lease.Context().Err(), "nothing is forced")
		require.NoError(t, lease.Release(ctx))
		require.NoError(t, next.Wait(t).Release(ctx))
		require.NoError(t, locks.Revoke(ctx, other, holders[0].Path), "it is gone already")
		w.NothingLeft(t, path)
	})
}

// A user may easily pass the lock's own path by mistake. A write to that path
// would tell no holder, and would overwrite data that is not the lock's.
func TestRevokeTouchesNothingButNodesOfLocks(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		c, _ := w.Connect(t)
		lease := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(c, "/locks/a"))
		require.NoError(t, w.Fake.Create("/stock", []byte("100")))
		for _, path := range []string{"/locks/a", "/stock", "/", "/locks/a/deadlock-0000000000"} {
			require.ErrorIs(t, locks.Revoke(ctx, c, path), zk.ErrInvalidPath, path)
		}
		require.ErrorIs(t, locks.Revoke(ctx, c, "stock"), zk.ErrInvalidPath)
		require.Zero(t, w.Fake.CountRequests(zktest.OpSetData))
		for _, node := range []string{
			"lock-0000000007", "_c_a-__READ__0000000007", "_c_a-__WRIT__0000000007", "_c_a-lease-0000000007", "_c_a-latch-0000000007",
		} {
			require.NoError(t, locks.Revoke(ctx, c, "/locks/b/"+node), "one that is gone")
		}
		require.NoError(t, lease.Release(ctx))
	})
}

func TestRevocableLockEndsItsContext(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		lease := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(c, path, locks.WithRevocation()))
		require.NoError(t, locks.Revoke(ctx, w.Observer, lease.Path()))
		<-lease.Context().Done()
		require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrRevoked)
		<-lease.Revoked()
		require.ErrorIs(t, lease.Release(ctx), locks.ErrRevoked, "the work was not finished under the lock")
		w.NothingLeft(t, path)
	})
}

func TestDataThatIsNotTheMarkerRevokesNothing(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		lease := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(c, path, locks.WithRevocation()))
		for _, data := range []string{"", "__REVOKE__ ", "__revoke__"} {
			require.NoError(t, w.Fake.Set(lease.Path(), []byte(data)))
			synctest.Wait()
			require.NoError(t, lease.Context().Err())
			require.False(t, recipetest.IsClosed(lease.Revoked()))
		}
		require.NoError(t, lease.Release(ctx))
	})
}
