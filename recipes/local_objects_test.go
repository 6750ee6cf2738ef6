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

// objects makes the locks that wait in the process.
var objects = map[string]struct {
	make  func(c *framework.Client, path string, opts ...recipes.LockOption) recipes.Locker
	queue string // where the waiters' nodes are, below the path
}{
	"mutex": {func(c *framework.Client, path string, opts ...recipes.LockOption) recipes.Locker {
		return recipes.NewInterProcessMutex(c, path, opts...)
	}, ""},
	"semaphore": {func(c *framework.Client, path string, opts ...recipes.LockOption) recipes.Locker {
		return recipes.NewInterProcessSemaphore(c, path, 1, opts...)
	}, "/locks"},
	"semaphore mutex": {func(c *framework.Client, path string, opts ...recipes.LockOption) recipes.Locker {
		return recipes.NewInterProcessSemaphoreMutex(c, path, opts...)
	}, "/locks"},
}

// eachObject runs a test with each kind of object.
func eachObject(t *testing.T, test func(t *testing.T, w *world, c *framework.Client, object func(opts ...recipes.LockOption) recipes.Locker, queue string)) {
	t.Helper()
	for name, o := range objects {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, _ := w.connect(t)
				path := path(t)
				test(t, w, c, func(opts ...recipes.LockOption) recipes.Locker { return o.make(c, path, opts...) }, path+o.queue)
			})
		})
	}
}

// A service that makes an object for each request costs the server no more than
// one that keeps the object.
func TestObjectsOfOneLockShareTheQueueInTheProcess(t *testing.T) {
	eachObject(t, func(t *testing.T, w *world, c *framework.Client, object func(...recipes.LockOption) recipes.Locker, queue string) {
		ctx := w.patience(t)
		var all []*pending
		for range 20 {
			all = append(all, take(ctx, object()))
			synctest.Wait()
		}
		for _, p := range all {
			require.LessOrEqual(t, len(w.nodes(t, queue)), 2)
			lease := p.wait(t) // in the order of arrival
			require.NoError(t, lease.Release(ctx))
			synctest.Wait()
		}
		w.nothingLeft(t, queue)
	})
}

// Objects are the same lock if the client and the full path are the same, whatever
// view they were made with.
func TestObjectsOfTwoViewsShareTheQueueInTheProcess(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.patience(t)
		c, _ := w.connect(t)
		view, err := c.Namespace("/shop")
		require.NoError(t, err)
		var all []*pending
		for i := range 10 {
			m := recipes.NewInterProcessMutex(c, "/shop/m")
			if i%2 == 0 {
				m = recipes.NewInterProcessMutex(view, "/m")
			}
			all = append(all, acquireLater(ctx, m))
			synctest.Wait()
		}
		require.Len(t, w.nodes(t, "/shop/m"), 2)
		for _, p := range all {
			require.NoError(t, p.wait(t).Release(ctx))
		}
		w.nothingLeft(t, "/shop/m")
	})
}

// Another client is another contender, in the same process, too.
func TestClientsDoNotShareAQueueInTheProcess(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		var all []*pending
		for range 3 {
			c, _ := w.connect(t)
			for range 5 {
				all = append(all, acquireLater(ctx, recipes.NewInterProcessMutex(c, path)))
				synctest.Wait()
			}
		}
		require.Len(t, w.nodes(t, path), 6)
		for range all { // in the order of the server's queue
			for _, p := range all {
				if p.over() && p.lease.Context().Err() == nil {
					require.NoError(t, p.wait(t).Release(ctx))
				}
			}
			synctest.Wait()
		}
		w.nothingLeft(t, path)
	})
}

// Each acquire has the options of its own object, whatever object was first at the
// lock.
func TestEachObjectKeepsItsOwnOptions(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		object := func(opts ...recipes.LockOption) *recipes.InterProcessMutex {
			return recipes.NewInterProcessMutex(c, path, opts...)
		}
		first := acquire(t, ctx, object(recipes.WithNodeData([]byte("first")), recipes.WithQueueLimit(1)))
		second := acquireLater(ctx, object(recipes.WithNodeData([]byte("second")), recipes.Revocable()))
		synctest.Wait()
		third := acquireLater(ctx, object())
		synctest.Wait()
		_, err := object(recipes.WithQueueLimit(3)).Acquire(ctx)
		require.ErrorIs(t, err, recipes.ErrQueueFull)
		_, err = object(recipes.WithQueueLimit(4)).TryAcquire(ctx)
		require.NotErrorIs(t, err, recipes.ErrQueueFull)
		_, err = object(recipes.WithQueueLimit(0)).Acquire(ctx)
		require.ErrorContains(t, err, "queue limit 0")

		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		_, err = object().Acquire(short)
		var refused *recipes.NotAcquiredError
		require.ErrorAs(t, err, &refused)
		require.Equal(t, "first", refused.Identity.Foreign)
		require.Equal(t, 3, refused.Ahead)

		require.NoError(t, first.Release(ctx))
		lease := second.wait(t)
		node, ok := w.fake.Node(lease.Path())
		require.True(t, ok)
		require.Equal(t, "second", string(node.Data))
		require.NoError(t, recipes.Revoke(ctx, w.observer, lease.Path()))
		<-lease.Context().Done()
		require.ErrorIs(t, context.Cause(lease.Context()), recipes.ErrRevoked)
		require.ErrorIs(t, lease.Release(ctx), recipes.ErrRevoked)
		require.NoError(t, third.wait(t).Release(ctx))
		w.nothingLeft(t, path)
	})
}

// Hand-over passes on the node with what its object's options have made of it, so
// it stays within the object.
func TestHandOverStaysWithinItsObject(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		one := recipes.NewInterProcessMutex(c, path, recipes.WithLocalHandOver(100, time.Hour), recipes.WithNodeData([]byte("one")))
		two := recipes.NewInterProcessMutex(c, path, recipes.WithLocalHandOver(100, time.Hour), recipes.WithNodeData([]byte("two")))
		ones, twos := queueUp(ctx, one, 3), queueUp(ctx, two, 3)
		plain := queueUp(ctx, recipes.NewInterProcessMutex(c, path), 3)
		require.Len(t, w.nodes(t, path), 4, "one for each object that hands over, and two for the others")
		for data, all := range map[string][]*pending{"one": ones, "two": twos} {
			for _, p := range all {
				go func() {
					<-p.done
					if node, _ := w.fake.Node(p.lease.Path()); string(node.Data) != data {
						t.Errorf("%s has the node of %s", data, node.Data)
					}
					p.lease.Release(ctx)
				}()
			}
		}
		for _, p := range plain {
			require.NoError(t, p.wait(t).Release(ctx))
		}
		w.nothingLeft(t, path)
	})
}

// A place at the server goes to the next arrival when an acquire fails, whatever
// objects the two use.
func TestFailedAcquireGivesItsPlaceToTheNextObject(t *testing.T) {
	eachObject(t, func(t *testing.T, w *world, c *framework.Client, object func(...recipes.LockOption) recipes.Locker, queue string) {
		ctx := w.patience(t)
		lease := hold(t, ctx, object())
		leaving, cancel := context.WithCancel(ctx)
		var going, staying []*pending
		for range 5 {
			going = append(going, take(leaving, object()))
			synctest.Wait()
			staying = append(staying, take(ctx, object()))
			synctest.Wait()
		}
		cancel()
		for _, p := range going {
			<-p.done
			require.ErrorIs(t, p.err, context.Canceled)
		}
		w.fake.Inject(zktest.Rule{Op: zktest.OpCreate, Path: queue + "/*", Session: c.SessionID(), Do: zktest.Fail(zktest.ErrNoAuth)})
		require.NoError(t, lease.Release(ctx))
		failed := 0
		for _, p := range staying {
			<-p.done
			if p.err != nil {
				failed++
				continue
			}
			require.NoError(t, p.lease.Release(ctx))
		}
		require.LessOrEqual(t, failed, 1)
		w.nothingLeft(t, queue)
	})
}
