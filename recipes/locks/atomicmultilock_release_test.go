package locks_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// One of the nodes is gone, or cannot be deleted. That keeps none of the others.
func TestReleaseOfAnAtomicMultiLockDeletesTheRest(t *testing.T) {
	for i := range 3 {
		inVirtualTime(t, func(t *testing.T, w *world) {
			ctx, paths := w.Patience(t), pathsBelow("/l", 3)
			c, _ := w.Connect(t)
			l := locks.NewAtomicMultiLock(c, paths)
			lease := locktest.Acquire(t, ctx, l)
			require.NoError(t, w.Fake.Delete(lease.Leases()[i].Path()))
			require.NoError(t, lease.Release(ctx))
			for _, p := range paths {
				w.NothingLeft(t, p)
			}

			lease = locktest.Acquire(t, ctx, l)
			w.Fake.Inject(zktest.Rule{Op: zktest.OpMulti, Session: c.SessionID(), Do: zktest.Fail(zktest.ErrNoAuth)})
			w.Fake.Inject(zktest.Rule{Op: zktest.OpDelete, Session: c.SessionID(), Path: paths[i] + "/*", Do: zktest.Fail(zktest.ErrNoAuth)})
			err := lease.Release(ctx)
			require.ErrorIs(t, err, zk.ErrNoAuth)
			for j, p := range paths {
				if i != j {
					require.Empty(t, w.Nodes(t, p))
				}
			}
		})
	}
}

// A lock of the whole that its holder has given back before is not deleted again.
func TestPartOfAnAtomicMultiLockIsReleasedBefore(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, paths := w.Patience(t), pathsBelow("/l", 3)
		c, _ := w.Connect(t)
		lease := locktest.Acquire(t, ctx, locks.NewAtomicMultiLock(c, paths))
		require.NoError(t, lease.Leases()[1].Release(ctx))
		synctest.Wait() // the context of the whole ends by a goroutine
		require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrReleased)
		next := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(w.Observer, paths[1]))
		require.ErrorIs(t, lease.Release(ctx), locks.ErrReleased)
		require.NoError(t, next.Context().Err())
		require.Empty(t, w.Nodes(t, paths[0]))
		require.Empty(t, w.Nodes(t, paths[2]))
		require.NoError(t, next.Release(ctx))
	})
}
