package locks_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// Curator tests this in TestInterProcessMutexBase#testLocker and
// #test2Clients.
func TestOneHolderAndHandOver(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c1, _ := w.Connect(t)
		c2, _ := w.Connect(t)
		first := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(c1, path))
		require.NoError(t, first.Context().Err())

		second := locktest.AcquireLater(ctx, locks.NewInterProcessMutex(c2, path))
		w.WaitNodes(t, path, 2)
		require.False(t, second.IsOver())

		require.NoError(t, first.Release(ctx))
		require.ErrorIs(t, context.Cause(first.Context()), locks.ErrReleased)
		require.NoError(t, second.Wait(t).Release(ctx))
		w.NothingLeft(t, path)
	})
}

func TestTryAcquireNamesTheHolderAndLeavesNothing(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		m := locks.NewInterProcessMutex(c, path)
		holder := locktest.Acquire(t, ctx, m)
		_, err := m.TryAcquire(ctx)

		var refused *locks.NotAcquiredError
		require.ErrorAs(t, err, &refused)
		require.ErrorIs(t, err, locks.ErrNotAcquired)
		require.Equal(t, 1, refused.Ahead)
		require.Equal(t, holder.Path(), path+"/"+refused.Holder)
		require.NotEmpty(t, refused.Identity)
		require.Nil(t, refused.Err)
		w.WaitNodes(t, path, 1)

		require.NoError(t, holder.Release(ctx))
		lease, err := m.TryAcquire(ctx)
		require.NoError(t, err)
		require.NoError(t, lease.Release(ctx))
		w.NothingLeft(t, path)
	})
}

// Curator tests this in TestInterProcessMutexBase#testContainerCleanup. The
// server may remove the lock's path whenever it has no children.
func TestLockSurvivesReapingOfItsPath(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		m := locks.NewInterProcessMutex(c, path)
		for range 10 {
			require.NoError(t, locktest.Acquire(t, ctx, m).Release(ctx))
			require.Equal(t, 1, zkinside.Of(w.Fake).ReapContainers())
		}
		// The server deletes the path again, once and twice, right after the client has
		// created the path.
		for times := range 2 {
			deletes := w.Fake.Inject(zktest.Rule{
				Op: zkinside.OpCreateContainer, Times: times + 1,
				Do: zktest.CallAfter(func(zktest.Request) { w.Fake.Delete(path) }),
			})
			require.NoError(t, locktest.Acquire(t, ctx, m).Release(ctx))
			require.Equal(t, times+1, deletes.Hits())
			require.Equal(t, 1, zkinside.Of(w.Fake).ReapContainers())
		}
		w.NothingLeft(t, path)
	})
}

// Java Curator reads and writes this layout. Curator's InterProcessMutex and
// StandardLockInternalsDriver are the reference implementation.
func TestNodeLayoutIsCurators(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		lease := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(c, path))
		require.Regexp(t, `^`+path+`/_c_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}-lock-\d{10}$`, lease.Path())
		node, ok := w.Fake.Node(lease.Path())
		require.True(t, ok)
		require.Equal(t, c.SessionID(), node.Stat.EphemeralOwner)
		require.NoError(t, lease.Release(ctx))
		require.Equal(t, 1, zkinside.Of(w.Fake).ReapContainers(), "the parent is a container")
	})
}
