package recipes_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes"
	"github.com/gocurator/curator/testing/zktest"
)

func TestWaitersAreAdmittedInOrderOfArrival(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		m := recipes.NewInterProcessMutex(c, path)
		lease := acquire(t, ctx, m)

		const waiters = 5
		order := make(chan int, waiters)
		for i := range waiters {
			other, _ := w.connect(t)
			go func() {
				if lease, err := recipes.NewInterProcessMutex(other, path).Acquire(ctx); err == nil {
					order <- i
					lease.Release(ctx)
				}
			}()
			w.waitNodes(t, path, i+2)
		}
		require.NoError(t, lease.Release(ctx))
		for want := range waiters {
			require.Equal(t, want, <-order)
		}
		w.nothingLeft(t, path)
	})
}

func TestWaiterThatLeavesDoesNotHoldUpTheQueue(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		m := recipes.NewInterProcessMutex(c, path)
		holder := acquire(t, ctx, m)

		leaving, cancel := context.WithCancelCause(ctx)
		middle := acquireLater(leaving, m)
		w.waitNodes(t, path, 2)
		other, _ := w.connect(t)
		last := acquireLater(ctx, recipes.NewInterProcessMutex(other, path))
		w.waitNodes(t, path, 3)

		gaveUp := fmt.Errorf("the customer went home")
		cancel(gaveUp)
		<-middle.done
		require.ErrorIs(t, middle.err, context.Canceled)
		require.ErrorIs(t, middle.err, gaveUp)
		w.waitNodes(t, path, 2)
		require.False(t, last.over())

		require.NoError(t, holder.Release(ctx))
		require.NoError(t, last.wait(t).Release(ctx))
		w.nothingLeft(t, path)
	})
}

// Uncontended, the lock costs three requests: create, list, delete.
func TestUncontendedCycleIsThreeRequests(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		m := recipes.NewInterProcessMutex(c, path)
		require.NoError(t, acquire(t, ctx, m).Release(ctx)) // makes the parent

		w.fake.ClearRequests()
		require.NoError(t, acquire(t, ctx, m).Release(ctx))
		require.Equal(t, []zktest.Op{zktest.OpCreate, zktest.OpGetChildren2, zktest.OpDelete}, w.requests())
	})
}

// One release wakes one waiter, by one event and a number of requests that does not grow with the queue.
func TestNoHerd(t *testing.T) {
	perRelease := map[int]int{}
	for _, waiters := range []int{2, 20, 200} {
		t.Run(fmt.Sprint(waiters), func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx, path := w.patience(t), path(t)
				c, _ := w.connect(t)
				m := recipes.NewInterProcessMutex(c, path)
				lease := acquire(t, ctx, m)
				queue := make([]*pending, waiters)
				for i := range queue {
					other, _ := w.connect(t)
					queue[i] = acquireLater(ctx, recipes.NewInterProcessMutex(other, path))
				}
				w.waitNodes(t, path, waiters+1)
				synctest.Wait()
				require.Len(t, w.fake.Watches(), waiters, "one watch for each waiter")

				w.fake.ClearRequests()
				events := w.fake.Stats().Notifications
				require.NoError(t, lease.Release(ctx))
				synctest.Wait()
				require.EqualValues(t, events+1, w.fake.Stats().Notifications)
				perRelease[waiters] = len(w.requests())

				admitted := slices.IndexFunc(queue, (*pending).over)
				require.GreaterOrEqual(t, admitted, 0)
				for range waiters {
					i := slices.IndexFunc(queue, (*pending).over)
					require.NoError(t, queue[i].wait(t).Release(ctx))
					queue = slices.Delete(queue, i, i+1)
					synctest.Wait()
				}
				w.nothingLeft(t, path)
			})
		})
	}
	require.Equal(t, 2, perRelease[2], "delete, and the next one's list")
	require.Equal(t, perRelease[2], perRelease[20])
	require.Equal(t, perRelease[2], perRelease[200])
}

// E25, CURATOR-43: to Curator, a child whose name sorts before the digits is the holder.
func TestForeignChildrenDoNotBlock(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		m := recipes.NewInterProcessMutex(c, path)
		for _, foreign := range []string{"-foreign", "#", "0", "zzz", "lock-", "lock-x"} {
			_, err := c.Create(ctx, path+"/"+foreign, nil, framework.WithParents())
			require.NoError(t, err)
		}
		lease, err := m.TryAcquire(ctx)
		require.NoError(t, err)
		_, err = m.TryAcquire(ctx)
		var refused *recipes.NotAcquiredError
		require.ErrorAs(t, err, &refused)
		require.Equal(t, 1, refused.Ahead)
		require.NoError(t, lease.Release(ctx))
		w.waitNodes(t, path, 6)
	})
}
