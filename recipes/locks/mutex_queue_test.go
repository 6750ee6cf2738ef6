package locks_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
)

// Promise: Contenders are admitted in the order of their nodes.
func TestWaitersAreAdmittedInOrderOfArrival(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		m := locks.NewInterProcessMutex(c, path)
		lease := locktest.Acquire(t, ctx, m)

		const waiters = 5
		order := make(chan int, waiters)
		for i := range waiters {
			other, _ := w.Connect(t)
			go func() {
				if lease, err := locks.NewInterProcessMutex(other, path).Acquire(ctx); err == nil {
					order <- i
					lease.Release(ctx)
				}
			}()
			w.WaitNodes(t, path, i+2)
		}
		require.NoError(t, lease.Release(ctx))
		for want := range waiters {
			require.Equal(t, want, <-order)
		}
		w.NothingLeft(t, path)
	})
}

// Promise: A waiter that gives up leaves no watch on the server.
func TestWaiterThatLeavesDoesNotHoldUpTheQueue(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		m := locks.NewInterProcessMutex(c, path)
		holder := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(w.Observer, path))

		leaving, cancel := context.WithCancelCause(ctx)
		middle := locktest.AcquireLater(leaving, m)
		w.WaitNodes(t, path, 2)
		other, _ := w.Connect(t)
		last := locktest.AcquireLater(ctx, locks.NewInterProcessMutex(other, path))
		w.WaitNodes(t, path, 3)

		gaveUp := fmt.Errorf("the customer went home")
		cancel(gaveUp)
		<-middle.Done
		require.ErrorIs(t, middle.Err, context.Canceled)
		require.ErrorIs(t, middle.Err, gaveUp)
		w.WaitNodes(t, path, 2)
		require.False(t, last.IsOver())

		require.NoError(t, holder.Release(ctx))
		require.NoError(t, last.Wait(t).Release(ctx))
		w.NothingLeft(t, path)
	})
}

// One release wakes one waiter. It takes one event, and a number of requests
// that does not grow with the queue.
//
// Promise: A release wakes one waiter.
func TestNoHerd(t *testing.T) {
	perRelease := map[int]int{}
	for _, waiters := range []int{2, 20, 200} {
		t.Run(fmt.Sprint(waiters), func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx, path := w.Patience(t), recipetest.Path(t)
				c, _ := w.Connect(t)
				m := locks.NewInterProcessMutex(c, path)
				lease := locktest.Acquire(t, ctx, m)
				queue := make([]*locktest.Pending, waiters)
				for i := range queue {
					other, _ := w.Connect(t)
					queue[i] = locktest.AcquireLater(ctx, locks.NewInterProcessMutex(other, path))
				}
				w.WaitNodes(t, path, waiters+1)
				synctest.Wait()
				require.Len(t, w.Fake.Watches(), waiters+1, "one watch for each waiter, and the next one's on its own node")

				w.Fake.ClearRequests()
				events := w.Fake.Stats().Notifications
				require.NoError(t, lease.Release(ctx))
				synctest.Wait()
				require.EqualValues(t, events+1, w.Fake.Stats().Notifications)
				perRelease[waiters] = len(w.Requests())

				admitted := slices.IndexFunc(queue, (*locktest.Pending).IsOver)
				require.GreaterOrEqual(t, admitted, 0)
				for range waiters {
					i := slices.IndexFunc(queue, (*locktest.Pending).IsOver)
					require.NoError(t, queue[i].Wait(t).Release(ctx))
					queue = slices.Delete(queue, i, i+1)
					synctest.Wait()
				}
				w.NothingLeft(t, path)
			})
		})
	}
	require.Equal(t, 1, perRelease[2], "the deletion alone")
	require.Equal(t, perRelease[2], perRelease[20])
	require.Equal(t, perRelease[2], perRelease[200])
}

// Curator takes a child whose name sorts before the digits for the holder
// (CURATOR-43).
//
// Promise: Children with other names do not block the queue.
func TestForeignChildrenDoNotBlock(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		m := locks.NewInterProcessMutex(c, path)
		for _, foreign := range []string{"-foreign", "#", "0", "zzz", "lock-", "lock-x"} {
			_, err := c.Create(ctx, path+"/"+foreign, nil, framework.WithParents())
			require.NoError(t, err)
		}
		lease, err := m.TryAcquire(ctx)
		require.NoError(t, err)
		_, err = m.TryAcquire(ctx)
		var refused *locks.NotAcquiredError
		require.ErrorAs(t, err, &refused)
		require.Equal(t, 1, refused.Ahead)
		require.NoError(t, lease.Release(ctx))
		w.WaitNodes(t, path, 6)
	})
}
