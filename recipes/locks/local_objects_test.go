package locks_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
)

// objects make the kinds of locks whose acquires queue in the process.
var objects = map[string]struct {
	make  func(c *framework.Client, path string, opts ...locks.Option) locks.Locker
	queue string // parent of the waiters' nodes, below the lock's path
}{
	"mutex": {func(c *framework.Client, path string, opts ...locks.Option) locks.Locker {
		var forMutexes []locks.MutexOption
		for _, opt := range opts {
			forMutexes = append(forMutexes, opt)
		}
		return locks.NewInterProcessMutex(c, path, forMutexes...)
	}, ""},
	"semaphore": {func(c *framework.Client, path string, opts ...locks.Option) locks.Locker {
		return locks.NewInterProcessSemaphore(c, path, locks.Limit(1), opts...)
	}, "/locks"},
	"semaphore mutex": {func(c *framework.Client, path string, opts ...locks.Option) locks.Locker {
		return locks.NewInterProcessSemaphoreMutex(c, path, opts...)
	}, "/locks"},
	"writer": {func(c *framework.Client, path string, opts ...locks.Option) locks.Locker {
		forBoth := make([]locks.ReadWriteOption, len(opts))
		for i, o := range opts {
			forBoth[i] = o
		}
		return locks.NewInterProcessReadWriteLock(c, path, forBoth...).WriteLock()
	}, ""},
}

// eachObject runs a test with each kind of object.
func eachObject(t *testing.T, test func(t *testing.T, w *world, c *framework.Client, object func(opts ...locks.Option) locks.Locker, queue string)) {
	t.Helper()
	for name, o := range objects {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, _ := w.Connect(t)
				path := recipetest.Path(t)
				test(t, w, c, func(opts ...locks.Option) locks.Locker { return o.make(c, path, opts...) }, path+o.queue)
			})
		})
	}
}

// A service that makes an object for each request costs the server no more than
// one that keeps the object.
func TestObjectsOfOneLockShareTheQueueInTheProcess(t *testing.T) {
	eachObject(t, func(t *testing.T, w *world, c *framework.Client, object func(...locks.Option) locks.Locker, queue string) {
		ctx := w.Patience(t)
		var all []*locktest.Pending
		for range 20 {
			all = append(all, take(ctx, object()))
			synctest.Wait()
		}
		for _, p := range all {
			require.LessOrEqual(t, len(w.Nodes(t, queue)), 2)
			lease := p.Wait(t) // leases come in the order of arrival
			require.NoError(t, lease.Release(ctx))
			synctest.Wait()
		}
		w.NothingLeft(t, queue)
	})
}

// Views of a client with different namespaces have one lock, and a node each. The lease
// has the path and the checks of its own view.
func TestLockOfTwoViews(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		c, _ := w.Connect(t)
		view, err := c.Namespace("/shop")
		require.NoError(t, err)
		one, two := cachedMutex(c, "/shop/m"), cachedMutex(view, "/m")
		node := w.idle(t, ctx, one)
		lease := locktest.Acquire(t, ctx, two)
		require.False(t, w.exists(node))
		require.True(t, w.exists("/shop"+lease.Path()))
		_, err = view.Transaction(ctx, lease.Checks()...)
		require.NoError(t, err)
		other := locktest.AcquireLater(ctx, one)
		synctest.Wait()
		require.False(t, other.IsOver())
		again := locktest.Acquire(t, lease.Context(), one)
		require.Equal(t, lease.FencingToken(), again.FencingToken())
		require.NoError(t, again.Release(ctx))
		require.NoError(t, lease.Release(ctx))
		require.NoError(t, other.Wait(t).Release(ctx))
		time.Sleep(cachedFor)
		w.NothingLeft(t, "/shop/m")
	})
}

// Each acquire has the options of its own object, whichever object was first
// at the lock.
func TestEachObjectKeepsItsOwnOptions(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		object := func(opts ...locks.MutexOption) *locks.InterProcessMutex {
			return locks.NewInterProcessMutex(c, path, opts...)
		}
		first := locktest.Acquire(t, ctx, object(locks.WithNodeData([]byte("first"))))
		second := locktest.AcquireLater(ctx, object(locks.WithNodeData([]byte("second")), locks.WithRevocation()))
		synctest.Wait()
		third := locktest.AcquireLater(ctx, object())
		synctest.Wait()
		_, err := object(locks.WithNodeData([]byte("__REVOKE__"))).Acquire(ctx)
		require.ErrorContains(t, err, "would ask the holder to give the lock up")

		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		_, err = object().Acquire(short)
		var refused *locks.NotAcquiredError
		require.ErrorAs(t, err, &refused)
		require.Equal(t, "first", refused.Identity().Foreign)
		require.Equal(t, 3, refused.Ahead)

		require.NoError(t, first.Release(ctx))
		lease := second.Wait(t)
		node, ok := w.Fake.Node(lease.Path())
		require.True(t, ok)
		require.Equal(t, "second", string(node.Data))
		require.NoError(t, locks.Revoke(ctx, w.Observer, lease.Path()))
		<-lease.Context().Done()
		require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrRevoked)
		require.ErrorIs(t, lease.Release(ctx), locks.ErrRevoked)
		require.NoError(t, third.Wait(t).Release(ctx))
		w.NothingLeft(t, path)
	})
}

// Hand-over passes on the node as its object's options have made it. It
// therefore stays among objects whose nodes say the same.
func TestHandOverKeepsTheNodeDataOfEachObject(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		one := locks.NewInterProcessMutex(c, path, handingOver(100, time.Hour), locks.WithNodeData([]byte("one")))
		two := locks.NewInterProcessMutex(c, path, handingOver(100, time.Hour), locks.WithNodeData([]byte("two")))
		ones, twos := queueUp(ctx, one, 3), queueUp(ctx, two, 3)
		plain := queueUp(ctx, locks.NewInterProcessMutex(c, path), 3)
		require.Len(t, w.Nodes(t, path), 3, "one for each object, because their data differ")
		for data, all := range map[string][]*locktest.Pending{"one": ones, "two": twos} {
			for _, p := range all {
				go func() {
					<-p.Done
					if node, _ := w.Fake.Node(p.Lease.Path()); string(node.Data) != data {
						t.Errorf("%s has the node of %s", data, node.Data)
					}
					p.Lease.Release(ctx)
				}()
			}
		}
		for _, p := range plain {
			require.NoError(t, p.Wait(t).Release(ctx))
		}
		w.NothingLeft(t, path)
	})
}
