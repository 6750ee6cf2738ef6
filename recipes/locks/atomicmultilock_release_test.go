package locks_test

import (
	"testing"

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
