package recipes_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes"
	"github.com/gocurator/curator/testing/zktest"
)

func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

func TestHolderIsAskedToGiveTheLockUp(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		other, _ := w.connect(t)
		lease := acquire(t, ctx, recipes.NewInterProcessMutex(c, path))
		asked := lease.Revoked()
		next := acquireLater(ctx, recipes.NewInterProcessMutex(other, path))
		w.waitNodes(t, path, 2)

		holders, err := recipes.NewInterProcessMutex(other, path).Participants(ctx)
		require.NoError(t, err)
		require.True(t, holders[0].Holder)
		require.NoError(t, recipes.Revoke(ctx, other, holders[0].Path))
		<-asked
		require.NoError(t, lease.Context().Err(), "nothing is forced")
		require.NoError(t, lease.Release(ctx))
		require.NoError(t, next.wait(t).Release(ctx))
		require.NoError(t, recipes.Revoke(ctx, other, holders[0].Path), "it is gone already")
		w.nothingLeft(t, path)
	})
}

// The lock's own path is the natural mistake. To write there would tell nobody, and overwrite what is not a lock's.
func TestRevokeTouchesNothingButNodesOfLocks(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.patience(t)
		c, _ := w.connect(t)
		lease := acquire(t, ctx, recipes.NewInterProcessMutex(c, "/locks/a"))
		require.NoError(t, w.fake.Create("/stock", []byte("100")))
		for _, path := range []string{"/locks/a", "/stock", "/", "/locks/a/deadlock-0000000000"} {
			require.ErrorIs(t, recipes.Revoke(ctx, c, path), zk.ErrBadArguments, path)
		}
		require.ErrorIs(t, recipes.Revoke(ctx, c, "stock"), zk.ErrInvalidPath)
		require.Zero(t, w.fake.CountRequests(zktest.OpSetData))
		for _, node := range []string{
			"lock-0000000007", "_c_a-__READ__0000000007", "_c_a-__WRIT__0000000007", "_c_a-lease-0000000007", "_c_a-latch-0000000007",
		} {
			require.NoError(t, recipes.Revoke(ctx, c, "/locks/b/"+node), "one that is gone")
		}
		require.NoError(t, lease.Release(ctx))
	})
}

func TestRevocableLockEndsItsContext(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		lease := acquire(t, ctx, recipes.NewInterProcessMutex(c, path, recipes.Revocable()))
		require.NoError(t, recipes.Revoke(ctx, w.observer, lease.Path()))
		<-lease.Context().Done()
		require.ErrorIs(t, context.Cause(lease.Context()), recipes.ErrRevoked)
		<-lease.Revoked()
		require.ErrorIs(t, lease.Release(ctx), recipes.ErrRevoked, "the work was not finished under the lock")
		w.nothingLeft(t, path)
	})
}

// E26: in Curator, who arms revocation after the acquire is never told, and neither is who was asked between the two.
func TestRevocationIsNoticedInWhateverOrderItIsArmed(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		m := recipes.NewInterProcessMutex(c, path)

		lease := acquire(t, ctx, m)
		require.NoError(t, recipes.Revoke(ctx, w.observer, lease.Path()))
		time.Sleep(100 * time.Millisecond)
		<-lease.Revoked() // asked before it was armed
		require.NoError(t, lease.Release(ctx))

		lease = acquire(t, ctx, m)
		synctest.Wait()
		require.False(t, isClosed(lease.Revoked()), "each lease anew")
		time.Sleep(time.Hour)
		require.NoError(t, recipes.Revoke(ctx, w.observer, lease.Path()))
		<-lease.Revoked()
		require.NoError(t, lease.Release(ctx))

		// Asked between the grant and the watch, and while it was still waiting.
		first := acquire(t, ctx, m)
		waiting := acquireLater(ctx, recipes.NewInterProcessMutex(c, path, recipes.Revocable()))
		nodes := w.waitNodes(t, path, 2)
		for _, n := range nodes {
			require.NoError(t, recipes.Revoke(ctx, w.observer, path+"/"+n))
		}
		require.NoError(t, first.Release(ctx))
		second := waiting.wait(t)
		<-second.Context().Done()
		require.ErrorIs(t, context.Cause(second.Context()), recipes.ErrRevoked)
		second.Release(ctx)
		w.nothingLeft(t, path)
	})
}

func TestDataThatIsNotTheMarkerRevokesNothing(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		lease := acquire(t, ctx, recipes.NewInterProcessMutex(c, path, recipes.Revocable()))
		for _, data := range []string{"", "__REVOKE__ ", "__revoke__"} {
			require.NoError(t, w.fake.Set(lease.Path(), []byte(data)))
			synctest.Wait()
			require.NoError(t, lease.Context().Err())
			require.False(t, isClosed(lease.Revoked()))
		}
		require.NoError(t, lease.Release(ctx))
	})
}

func TestRevocableCostsOneRequestMore(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		m := recipes.NewInterProcessMutex(c, path, recipes.Revocable())
		require.NoError(t, acquire(t, ctx, m).Release(ctx)) // makes the parent
		synctest.Wait()
		w.fake.ClearRequests()
		lease := acquire(t, ctx, m)
		synctest.Wait()
		require.NoError(t, lease.Release(ctx))
		synctest.Wait()
		require.Equal(t, []zktest.Op{zktest.OpCreate, zktest.OpGetChildren2, zktest.OpGetData, zktest.OpDelete}, w.requests())
	})
}
