package fencezk_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/fence"
	"github.com/gocurator/curator/recipes/fence/fencezk"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

func TestMain(m *testing.M) { recipetest.Main(m) }

// writes are all ways to write. Each works once on a new tree.
var writes = map[string]func(ctx context.Context, c *fencezk.Client) error{
	"create": func(ctx context.Context, c *fencezk.Client) error {
		_, err := c.Create(ctx, "/new", []byte("x"))
		return err
	},
	"create an ephemeral node": func(ctx context.Context, c *fencezk.Client) error {
		_, err := c.Create(ctx, "/new", nil, framework.WithMode(framework.Ephemeral))
		return err
	},
	"create with parents": func(ctx context.Context, c *fencezk.Client) error {
		_, err := c.Create(ctx, "/a/b/c", nil, framework.WithParents())
		return err
	},
	"create or set": func(ctx context.Context, c *fencezk.Client) error {
		_, err := c.Create(ctx, "/data", []byte("x"), framework.WithOverwrite(framework.AnyVersion))
		return err
	},
	"set":              func(ctx context.Context, c *fencezk.Client) error { return set(ctx, c, framework.AnyVersion) },
	"set of a version": func(ctx context.Context, c *fencezk.Client) error { return set(ctx, c, 0) },
	"delete": func(ctx context.Context, c *fencezk.Client) error {
		return c.Delete(ctx, "/data", framework.AnyVersion)
	},
	"transaction": func(ctx context.Context, c *fencezk.Client) error {
		_, err := c.Transaction(ctx, framework.CreateOp("/new", nil), framework.DeleteOp("/data", 0))
		return err
	},
	"check": func(ctx context.Context, c *fencezk.Client) error { _, err := c.Transaction(ctx); return err },
}

func set(ctx context.Context, c *fencezk.Client, version int32) error {
	_, err := c.Set(ctx, "/data", []byte("x"), version)
	return err
}

// Promise: ZooKeeper refuses the write of a holder that has lost its lock, even if the
// write begins before the loss, and arrives when the next holder has written.
func TestStaleWriteIsRefused(t *testing.T) {
	for name, write := range writes {
		t.Run(name, func(t *testing.T) {
			recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) {
				first, network := w.Connect(t)
				second, _ := w.Connect(t)
				ctx := w.Patience(t)
				require.NoError(t, w.Fake.Create("/data", []byte("first")))
				stopped := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(first, "/lock"))

				network.Refuse(true)
				network.Cut()
				synctest.Wait()
				late := make(chan error)
				go func() { late <- write(ctx, fencezk.New(first, stopped)) }()
				next := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(second, "/lock"))
				require.NoError(t, fencezk.New(second, next).Delete(ctx, "/data", 0))
				_, err := fencezk.New(second, next).Create(ctx, "/data", []byte("second"))
				require.NoError(t, err)
				before := w.Fake.Tree()
				network.Refuse(false)

				err = <-late
				require.ErrorContains(t, err, "stale fencing token: ")
				require.Equal(t, &fence.StaleError{Token: stopped.FencingToken(), Owner: stopped.Path()}, staleOf(t, err))
				var failed *framework.TxnError
				require.ErrorAs(t, err, &failed)
				require.Zero(t, failed.Index)
				require.Equal(t, before, w.Fake.Tree())
			})
		})
	}
}

// staleOf returns what is known of a refused write.
func staleOf(t *testing.T, err error) (stale *fence.StaleError) {
	t.Helper()
	require.ErrorIs(t, err, fence.ErrStale)
	require.ErrorAs(t, err, &stale)
	return stale
}

// Promise: a write of a holder that has lost its lock has one error for programs: it
// matches fence.ErrStale before the holder learns of the loss, after that, and if the
// loss ends the context of the write.
func TestErrorOfALossIsTheSameBeforeAndAfter(t *testing.T) {
	for name, write := range writes {
		t.Run(name, func(t *testing.T) {
			recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) {
				c, network := w.Connect(t)
				require.NoError(t, w.Fake.Create("/data", nil))
				mutex := locks.NewInterProcessMutex(c, "/lock")
				lease := locktest.Acquire(t, w.Patience(t), mutex)
				require.NoError(t, w.Fake.Delete(lease.Path()))
				before := staleOf(t, write(t.Context(), fencezk.New(c, lease)))
				<-lease.Context().Done()
				err := write(t.Context(), fencezk.New(c, lease))
				require.Equal(t, before, staleOf(t, err))
				require.ErrorIs(t, err, locks.ErrNodeDeleted)

				lease = locktest.Acquire(t, w.Patience(t), mutex)
				network.Refuse(true)
				network.Cut()
				synctest.Wait()
				err = write(lease.Context(), fencezk.New(c, lease))
				require.Equal(t, lease.FencingToken(), staleOf(t, err).Token)
				require.ErrorIs(t, err, framework.ErrSessionLost)
				require.ErrorIs(t, err, context.Canceled)
			})
		})
	}
}

// Promise: a holder writes as without a fence, in every namespace of its client.
func TestHolderWrites(t *testing.T) {
	for name, write := range writes {
		t.Run(name, func(t *testing.T) {
			recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) {
				c, _ := w.Connect(t)
				shop, err := c.Namespace("/shop")
				require.NoError(t, err)
				lease := locktest.Acquire(t, w.Patience(t), locks.NewInterProcessMutex(c, "/lock"))
				_, err = shop.Create(t.Context(), "/data", nil)
				require.NoError(t, err)
				require.NoError(t, write(t.Context(), fencezk.New(shop, lease)))
			})
		})
	}
}

func TestResultsAndErrors(t *testing.T) {
	recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		c, _ := w.Connect(t)
		ctx := w.Patience(t)
		lease := locktest.Acquire(t, ctx, locks.NewInterProcessMultiLock(
			locks.NewInterProcessMutex(c, "/locks/a"), locks.NewInterProcessMutex(c, "/locks/b")))
		fenced := fencezk.New(c, lease)
		made, err := fenced.Create(ctx, "/data-", []byte("1"), framework.WithMode(framework.PersistentSequential))
		require.NoError(t, err)
		require.Equal(t, "/data-0000000001", made.Path) // after /locks
		stat, err := fenced.Set(ctx, made.Path, []byte("2"), 0)
		require.NoError(t, err)
		data, read, err := fenced.Get(ctx, made.Path)
		require.NoError(t, err)
		require.Equal(t, "2", string(data))
		require.Equal(t, read, stat)
		results, err := fenced.Transaction(ctx, framework.CheckOp(made.Path, 1), framework.SetOp(made.Path, nil, 1))
		require.NoError(t, err)
		require.Len(t, results, 2)
		require.Equal(t, "set", results[1].Op)

		_, err = fenced.Set(ctx, made.Path, nil, 7)
		require.ErrorIs(t, err, zk.ErrBadVersion)
		require.NotErrorIs(t, err, fence.ErrStale)
		err = fenced.Delete(ctx, "/none", 0)
		require.ErrorIs(t, err, zk.ErrNoNode)
		require.NotErrorIs(t, err, fence.ErrStale, "the missing node is not the lock's")

		other, _ := w.Connect(t)
		_, err = fencezk.New(other, lease).Set(ctx, made.Path, nil, framework.AnyVersion)
		var unusable *framework.ConfigError
		require.ErrorAs(t, err, &unusable)

		require.NoError(t, w.Fake.Delete(lease.Leases()[1].Path()))
		err = fenced.Delete(ctx, made.Path, framework.AnyVersion)
		require.ErrorIs(t, err, fence.ErrStale, "one of the locks is lost, and its holder does not know yet")
	})
}

// Promise: no write is sent under a lease that was released, even if another lease of
// the client has the same node.
func TestEndedLeaseSendsNothing(t *testing.T) {
	recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		c, _ := w.Connect(t)
		mutex := locks.NewInterProcessMutex(c, "/lock")
		lease := locktest.Acquire(t, w.Patience(t), mutex)
		again := locktest.Acquire(t, lease.Context(), mutex)
		require.NoError(t, again.Release(t.Context()))
		synctest.Wait()
		w.Fake.ClearRequests()
		for name, write := range writes {
			err := write(t.Context(), fencezk.New(c, again))
			require.ErrorIs(t, err, locks.ErrReleased, name)
			require.Equal(t, &fence.StaleError{Token: again.FencingToken(), Owner: again.Path()}, staleOf(t, err), name)
			require.ErrorContains(t, err, ": the lease has ended: ", name)
		}
		require.Empty(t, w.Requests())
	})
}

// A write is applied, and its reply is lost with the session. The client sends it again.
func TestWriteThatWasAppliedBefore(t *testing.T) {
	recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		c, _ := w.Connect(t)
		require.NoError(t, w.Fake.Create("/data", nil))
		lease := locktest.Acquire(t, w.Patience(t), locks.NewInterProcessMutex(c, "/lock"))
		session := w.Fake.Session(c.SessionID())
		w.Fake.Inject(zktest.Rule{Op: zktest.OpMulti, Times: 1, Do: zktest.All(
			zktest.DropReply(), zktest.CallAfter(func(zktest.Request) { session.Expire() }))})
		err := set(w.Patience(t), fencezk.New(c, lease), framework.AnyVersion)
		require.ErrorIs(t, err, fence.ErrStale)
		require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
		node, _ := w.Fake.Node("/data")
		require.EqualValues(t, 1, node.Stat.Version)
	})
}

// The loss ends the context of a write that a server is working on. The write is applied.
func TestWriteThatIsOnItsWayAtTheLoss(t *testing.T) {
	recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		c, _ := w.Connect(t)
		require.NoError(t, w.Fake.Create("/data", nil))
		lease := locktest.Acquire(t, w.Patience(t), locks.NewInterProcessMutex(c, "/lock"))
		w.Fake.Inject(zktest.Rule{Op: zktest.OpMulti, Times: 1, Do: zktest.Call(func(zktest.Request) { time.Sleep(time.Second) })})
		late := make(chan error)
		go func() { late <- set(lease.Context(), fencezk.New(c, lease), framework.AnyVersion) }()
		synctest.Wait()
		require.NoError(t, lease.Release(t.Context()))
		err := <-late
		require.ErrorIs(t, err, fence.ErrStale)
		require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
		node, _ := w.Fake.Node("/data")
		require.EqualValues(t, 1, node.Stat.Version)
	})
}
