package recipes_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes"
	"github.com/gocurator/curator/testing/zktest"
)

func TestHoldersNodeDeletedByAnOperator(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		m := recipes.NewInterProcessMutex(c, path)
		lease := acquire(t, ctx, m)
		require.NoError(t, w.observer.Delete(ctx, lease.Path(), framework.AnyVersion))
		<-lease.Context().Done()
		require.ErrorIs(t, context.Cause(lease.Context()), recipes.ErrNodeDeleted)
		other := acquire(t, ctx, m)
		require.ErrorIs(t, lease.Release(ctx), recipes.ErrNodeDeleted)
		require.NoError(t, other.Context().Err())
		require.NoError(t, other.Release(ctx))
		w.nothingLeft(t, path)
	})
}

// A long holder watches its own node. That watch goes with the node, not by a request of its own, and data written
// to the node is no reason to end.
func TestLongHolderLeavesNoWatch(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, knife := w.connect(t)
		lease := acquire(t, ctx, recipes.NewInterProcessMutex(c, path))
		<-time.After(2 * time.Second)
		require.Len(t, w.fake.Watches(), 1)
		for range 3 {
			require.NoError(t, w.fake.Set(lease.Path(), []byte("hello")))
			synctest.Wait()
			require.Len(t, w.fake.Watches(), 1)
		}
		knife.cut()
		require.NoError(t, c.WaitConnected(ctx))
		<-time.After(time.Second)
		require.NoError(t, lease.Context().Err())

		w.fake.ClearRequests()
		require.NoError(t, lease.Release(ctx))
		synctest.Wait()
		require.Equal(t, []zktest.Op{zktest.OpDelete}, w.requests())
		w.nothingLeft(t, path)
	})
}

// The holder looks after its own node through interruptions, and through answers that help nobody.
func TestHolderNoticesTheDeletionWhateverHappened(t *testing.T) {
	for name, trouble := range map[string]zktest.Action{
		"request lost":   zktest.DropRequest,
		"reply lost":     zktest.DropReply,
		"server error":   zktest.Fail(zktest.ErrSystem),
		"no right":       zktest.Fail(zktest.ErrNoAuth),
		"server is busy": zktest.Fail(zktest.ErrThrottled),
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx := w.patience(t)
				c, _ := w.connect(t)
				lease := acquire(t, ctx, recipes.NewInterProcessMutex(c, "/l"))
				fault := w.fake.Inject(zktest.Rule{Op: zktest.OpGetData, Session: c.SessionID(), Times: 8, Do: trouble})
				<-fault.Done()
				require.NoError(t, lease.Context().Err())
				require.NoError(t, w.fake.Delete(lease.Path()))
				<-lease.Context().Done()
				require.ErrorIs(t, context.Cause(lease.Context()), recipes.ErrNodeDeleted)
			})
		})
	}
}

func TestWaitersNodeDeletedByAnOperator(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		m := recipes.NewInterProcessMutex(c, path)
		holder := acquire(t, ctx, m)
		waiter := acquireLater(ctx, m)
		nodes := w.waitNodes(t, path, 2)
		require.NoError(t, w.observer.Delete(ctx, path+"/"+nodes[1], framework.AnyVersion))
		require.NoError(t, holder.Release(ctx))
		require.NoError(t, waiter.wait(t).Release(ctx))
		w.nothingLeft(t, path)
	})
}
