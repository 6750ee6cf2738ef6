package locks_test

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// pathsBelow returns n paths.
func pathsBelow(parent string, n int) (paths []string) {
	for i := range n {
		paths = append(paths, fmt.Sprintf("%s/%c", parent, 'a'+rune(i)))
	}
	return paths
}

func TestAtomicMultiLockIsAllOrNone(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, root := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		paths := []string{root + "/b", root + "/c", root + "/a", root + "/b"}
		l := locks.NewAtomicMultiLock(c, paths)
		lease, err := l.Acquire(ctx)
		require.NoError(t, err)
		parts := lease.Leases()
		require.Len(t, parts, 3, "one for each path")
		for i, part := range parts {
			require.Equal(t, paths[i], path.Dir(part.Path()))
			require.Equal(t, lease.FencingToken(), part.FencingToken(), "one transaction has made all")
		}
		_, err = c.Transaction(ctx, append(lease.Checks(), framework.CreateOp(root+"/guarded", nil))...)
		require.NoError(t, err)
		all, err := l.Participants(ctx)
		require.NoError(t, err)
		require.Len(t, all, 3)
		for i, p := range all {
			require.True(t, p.Holder)
			require.Equal(t, parts[i].Path(), p.Path)
		}
		require.NoError(t, lease.Release(ctx))
		require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrReleased)
		require.ErrorIs(t, lease.Release(ctx), locks.ErrReleased)
		for _, p := range paths {
			w.WaitNodes(t, p, 0)
		}

		holder := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(w.Observer, root+"/a"))
		for range 10 { // nothing of a failed try is in the way of the next
			_, err = l.TryAcquire(ctx)
			require.ErrorIs(t, err, locks.ErrNotAcquired)
			require.ErrorContains(t, err, root+"/a")
			require.Equal(t, 1, notAcquired(t, err).Ahead)
		}
		waiting := locktest.AcquireLater(ctx, l)
		w.WaitNodes(t, root+"/a", 2)
		w.WaitNodes(t, root+"/b", 1)
		require.NoError(t, holder.Release(ctx))
		require.NoError(t, waiting.Wait(t).Release(ctx))
		for _, p := range paths {
			w.NothingLeft(t, p)
		}
	})
}

// A lease of some of the locks is not in the way of an acquire under it.
func TestAtomicMultiLockReentersWhatItsCallerHolds(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		c, _ := w.Connect(t)
		m := locks.NewInterProcessMutex(c, "/l/b", locks.WithLocalHandOver(5, time.Minute))
		b := locktest.Acquire(t, ctx, m)
		l := locks.NewAtomicMultiLock(c, []string{"/l/a", "/l/b", "/l/c"})
		lease := locktest.Acquire(t, b.Context(), l)
		require.Equal(t, b.Path(), lease.Leases()[1].Path())
		one := locktest.Acquire(t, lease.Context(), locks.NewInterProcessMutex(c, "/l/c"))
		require.NoError(t, one.Release(ctx))

		require.NoError(t, b.Release(ctx))
		require.NoError(t, lease.Context().Err(), "it has a share of its own")
		waiting := locktest.AcquireLater(ctx, m)
		synctest.Wait()
		require.False(t, waiting.IsOver())
		require.NoError(t, lease.Release(ctx))
		next := waiting.Wait(t)
		require.Equal(t, b.Path(), next.Path(), "it was handed over")
		time.Sleep(time.Minute)
		require.NoError(t, next.Context().Err(), "the node is there")
		require.NoError(t, next.Release(ctx))

		b = locktest.Acquire(t, ctx, locks.NewInterProcessMutex(c, "/l/b"))
		w.Fake.Session(c.SessionID()).Expire()
		<-b.Context().Done()
		_, err := l.Acquire(b.Context())
		require.Error(t, err)
		under, done := context.WithCancel(context.WithoutCancel(b.Context()))
		defer done()
		_, err = l.Acquire(under)
		require.ErrorIs(t, err, framework.ErrSessionLost, "its caller believes that it holds one of them")
		b.Release(ctx)
		for _, p := range pathsBelow("/l", 3) {
			w.NothingLeft(t, p)
		}
	})
}

// Somebody deletes one of the nodes while the acquire waits. Another contender
// gets that lock. So the acquire gives up all, and begins again.
func TestAtomicMultiLockBeginsAgainAsAWhole(t *testing.T) {
	for i, waitsFor := range []string{"/l/a", "/l/b", "/l/b", "/l/c"} {
		deleted := []string{"/l/b", "/l/a", "/l/c", "/l/c"}[i]
		t.Run(deleted+" behind "+waitsFor, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx, paths := w.Patience(t), pathsBelow("/l", 3)
				c, _ := w.Connect(t)
				held := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(w.Observer, waitsFor))
				waiting := locktest.AcquireLater(ctx, locks.NewAtomicMultiLock(c, paths))
				time.Sleep(10 * time.Second) // it watches by now what it has
				ours := ownNode(t, w, c, deleted)
				first, _ := w.Fake.Node(ours)
				other, _ := w.Connect(t)
				behind := locktest.AcquireLater(ctx, locks.NewInterProcessMutex(other, deleted))
				synctest.Wait()
				require.NoError(t, w.Fake.Delete(ours))
				if deleted != waitsFor {
					taken := behind.Wait(t)
					time.Sleep(time.Second) // it has heard of the deletion
					require.NoError(t, held.Release(ctx))
					time.Sleep(10 * time.Second)
					require.False(t, waiting.IsOver(), "another has %s", deleted)
					held = taken
				}
				time.Sleep(10 * time.Second)
				for _, p := range paths {
					node, ok := w.Fake.Node(ownNode(t, w, c, p))
					require.True(t, ok)
					require.Greater(t, node.Stat.Czxid, first.Stat.Czxid, "all is begun again")
				}
				require.NoError(t, held.Release(ctx))
				if deleted == waitsFor {
					require.NoError(t, behind.Wait(t).Release(ctx), "it is ahead by now")
				}
				lease := waiting.Wait(t)
				for _, part := range lease.Leases() {
					require.Equal(t, lease.FencingToken(), part.FencingToken())
				}
				require.NoError(t, lease.Context().Err())
				require.NoError(t, lease.Release(ctx))
				for _, p := range paths {
					w.NothingLeft(t, p)
				}
			})
		})
	}
}

// ownNode returns the only node of a client below a path.
func ownNode(t *testing.T, w *world, c *framework.Client, parent string) (own string) {
	t.Helper()
	for _, name := range w.Fake.Children(parent) {
		if n, _ := w.Fake.Node(parent + "/" + name); n.Stat.EphemeralOwner == c.SessionID() {
			require.Empty(t, own, "a second node")
			own = parent + "/" + name
		}
	}
	require.NotEmpty(t, own)
	return own
}

// Whatever is lost with the transaction, the acquire ends with one node in each
// queue, and no other is left.
func TestAtomicMultiLockWhoseTransactionIsLost(t *testing.T) {
	for loss := range lossesOf(nil, 0) {
		t.Run(loss, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx, paths := w.Patience(t), pathsBelow("/l", 3)
				c, _ := w.Connect(t)
				l := locks.NewAtomicMultiLock(c, paths)
				require.NoError(t, locktest.Acquire(t, ctx, l).Release(ctx))
				fault := w.Fake.Inject(zktest.Rule{Op: zktest.OpMulti, Do: lossesOf(w, c.SessionID())[loss]})
				lease := locktest.Acquire(t, ctx, l)
				require.Equal(t, 1, fault.Hits())
				for i, p := range paths {
					require.Equal(t, lease.Leases()[i].Path(), ownNode(t, w, c, p))
				}
				time.Sleep(time.Minute)
				require.NoError(t, lease.Context().Err())
				for _, p := range paths {
					require.Len(t, w.Nodes(t, p), 1)
				}
				w.Fake.Inject(zktest.Rule{Op: zktest.OpMulti, Do: lossesOf(w, c.SessionID())[loss]})
				require.NoError(t, lease.Release(ctx))
				time.Sleep(time.Minute)
				for _, p := range paths {
					w.NothingLeft(t, p)
				}
			})
		})
	}
}

func TestAtomicMultiLockThatCannotBe(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		c, _ := w.Connect(t)
		for name, l := range map[string]*locks.InterProcessMultiLock{
			"no path":    locks.NewAtomicMultiLock(c, nil),
			"nil option": locks.NewAtomicMultiLock(c, []string{"/l/a"}, nil),
			"option":     locks.NewAtomicMultiLock(c, []string{"/l/a"}, locks.WithQueueLimit(0)),
		} {
			_, err := l.Acquire(ctx)
			require.ErrorIs(t, err, zk.ErrBadArguments, name)
			_, err = l.TryAcquire(ctx)
			require.ErrorIs(t, err, zk.ErrBadArguments, name)
		}
		_, err := locks.NewAtomicMultiLock(c, []string{"/l/a", "l/b"}).Acquire(ctx)
		require.ErrorIs(t, err, zk.ErrInvalidPath)
		require.ErrorContains(t, err, "l/b")
		require.Empty(t, w.Nodes(t, "/l"))

		long := pathsBelow("/l/"+strings.Repeat("x", 60_000), 20)
		require.NoError(t, locktest.Acquire(t, ctx, locks.NewAtomicMultiLock(c, long[:10])).Release(ctx))
		_, err = locks.NewAtomicMultiLock(c, long).Acquire(ctx)
		require.ErrorIs(t, err, framework.ErrRequestTooLarge)
		for _, p := range long {
			require.Empty(t, w.Nodes(t, p))
		}
	})
}

// A limit counts those ahead in each queue.
func TestQueueLimitOfAnAtomicMultiLock(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		c, _ := w.Connect(t)
		held := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(w.Observer, "/l/b"))
		_, err := locks.NewAtomicMultiLock(c, []string{"/l/a", "/l/b"}, locks.WithQueueLimit(1)).Acquire(ctx)
		require.ErrorIs(t, err, locks.ErrQueueFull)
		require.Empty(t, w.Nodes(t, "/l/a"))
		require.Len(t, w.Nodes(t, "/l/b"), 1)
		require.NoError(t, held.Release(ctx))
	})
}

// One of several locks is asked for.
func TestAtomicMultiLockIsAskedFor(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		c, _ := w.Connect(t)
		l := locks.NewAtomicMultiLock(c, []string{"/l/a", "/l/b"}, locks.WithRevocation())
		lease := locktest.Acquire(t, ctx, l)
		require.NoError(t, locks.Revoke(ctx, w.Observer, lease.Leases()[1].Path()))
		<-lease.Context().Done()
		require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrRevoked)
		require.ErrorIs(t, lease.Release(ctx), locks.ErrRevoked)
		w.NothingLeft(t, "/l/a")
		w.NothingLeft(t, "/l/b")
	})
}

// Several that want the same locks get them in the order in which they have come,
// whatever the order of their paths.
func TestAtomicMultiLocksAreAdmittedInOrder(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, paths := w.Patience(t), pathsBelow("/l", 4)
		held := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(w.Observer, paths[3]))
		var waiting []*locktest.Pending
		for i := range 5 {
			c, _ := w.Connect(t)
			some := slices.Concat(paths[3-i%3:], paths[:1])
			waiting = append(waiting, locktest.AcquireLater(ctx, locks.NewAtomicMultiLock(c, some)))
			synctest.Wait()
		}
		require.NoError(t, held.Release(ctx))
		for i, p := range waiting {
			lease := p.Wait(t)
			synctest.Wait()
			for _, later := range waiting[i+1:] {
				require.False(t, later.IsOver())
			}
			require.NoError(t, lease.Release(ctx))
		}
	})
}
