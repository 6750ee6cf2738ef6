package locks_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// The request that lists all queues is not repeated. Whatever is lost with it, the
// queues are listed one by one, also by a try, and nothing is left.
func TestAtomicMultiLockWhoseListsAreLost(t *testing.T) {
	for loss := range lossesOf(nil, 0) {
		for name, acquire := range acquireOrTry {
			t.Run(loss+", "+name, func(t *testing.T) {
				inVirtualTime(t, func(t *testing.T, w *world) {
					ctx, paths := w.Patience(t), pathsBelow("/l", 3)
					c, _ := w.Connect(t)
					l := locks.NewAtomicMultiLock(c, paths)
					require.NoError(t, locktest.Acquire(t, ctx, l).Release(ctx))
					fault := w.Fake.Inject(zktest.Rule{Op: zktest.OpMultiRead, Session: c.SessionID(), Do: lossesOf(w, c.SessionID())[loss]})
					lease, err := acquire(l, ctx)
					require.Equal(t, 1, fault.Hits())
					if err == nil {
						time.Sleep(time.Minute)
						require.NoError(t, lease.Context().Err())
						for i, p := range paths {
							require.Equal(t, lease.Leases()[i].Path(), ownNode(t, w, c, p))
						}
						require.NoError(t, lease.Release(ctx))
					} else {
						require.ErrorIs(t, err, framework.ErrSessionLost)
						require.Equal(t, "try", name)
					}
					time.Sleep(time.Minute)
					for _, p := range paths {
						w.NothingLeft(t, p)
					}
				})
			})
		}
	}
}

// What is wrong with one queue is about that one: one that is gone is made again,
// and one that must not be read is named. It leaves nothing in the others.
func TestAtomicMultiLockOfWhichOneQueueCannotBeListed(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, paths := w.Patience(t), pathsBelow("/l", 3)
		c, _ := w.Connect(t)
		l := locks.NewAtomicMultiLock(c, paths)
		require.NoError(t, locktest.Acquire(t, ctx, l).Release(ctx))
		gone := w.Fake.Inject(zktest.Rule{Op: zktest.OpMulti, Session: c.SessionID(), Do: zktest.CallAfter(func(zktest.Request) {
			require.NoError(t, w.Fake.Delete(ownNode(t, w, c, "/l/b")))
			require.NoError(t, w.Fake.Delete("/l/b"))
		})})
		lease := locktest.Acquire(t, ctx, l)
		require.Equal(t, 1, gone.Hits())
		require.Equal(t, lease.Leases()[1].Path(), ownNode(t, w, c, "/l/b"))
		require.NoError(t, lease.Release(ctx))

		acl := []zk.ACL{{Perms: zk.PermAll &^ zk.PermRead, Scheme: "world", ID: "anyone"}}
		_, err := c.SetACL(ctx, "/l/b", acl, framework.AnyVersion)
		require.NoError(t, err)
		for name, acquire := range acquireOrTry {
			_, err = acquire(l, ctx)
			require.ErrorIs(t, err, zk.ErrNoAuth, name)
			require.ErrorContains(t, err, "children /l/b", name)
		}
		require.Empty(t, w.Nodes(t, "/l/a"))
		require.Empty(t, w.Nodes(t, "/l/c"))
	})
}

// A client with a slow line would not wait for one answer with several long queues.
// So those that were long at the last look are listed one by one.
func TestAtomicMultiLockListsLongQueuesOneByOne(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, paths := w.Patience(t), pathsBelow("/l", 3)
		c, _ := w.Connect(t)
		l := locks.NewAtomicMultiLock(c, paths)
		require.NoError(t, locktest.Acquire(t, ctx, l).Release(ctx))
		for i := range 2000 {
			require.NoError(t, w.Fake.Create(fmt.Sprintf("/l/b/other-%d", i), nil))
		}
		for _, want := range []map[zktest.Op]int{
			{zktest.OpMulti: 2, zktest.OpMultiRead: 1},
			{zktest.OpMulti: 2, zktest.OpGetChildren2: 3},
		} {
			w.Fake.ClearRequests()
			require.NoError(t, locktest.Acquire(t, ctx, l).Release(ctx))
			require.Equal(t, want, requestCounts(w))
		}

		// A listing that fails says nothing of the length.
		w.Fake.Inject(zktest.Rule{Op: zktest.OpGetChildren2, Path: "/l/b", Do: zktest.Fail(zktest.ErrNoAuth)})
		_, err := l.Acquire(ctx)
		require.ErrorIs(t, err, zk.ErrNoAuth)
		w.Fake.ClearRequests()
		require.NoError(t, locktest.Acquire(t, ctx, l).Release(ctx))
		require.Equal(t, map[zktest.Op]int{zktest.OpMulti: 2, zktest.OpGetChildren2: 3}, requestCounts(w), "long still")

		for _, name := range w.Fake.Children("/l/b") {
			require.NoError(t, w.Fake.Delete("/l/b/"+name))
		}
		require.NoError(t, locktest.Acquire(t, ctx, l).Release(ctx))
		w.Fake.ClearRequests()
		require.NoError(t, locktest.Acquire(t, ctx, l).Release(ctx))
		require.Equal(t, 1, w.Fake.CountRequests(zktest.OpMultiRead), "they are short again")
	})
}
