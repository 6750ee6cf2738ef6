package locks_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
)

// Views of a client with different namespaces have one lock, and a node each. The lease
// has the path and the checks of the view that acquired it.
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

// Each acquire has the options of the object that is used, whichever object was first
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
