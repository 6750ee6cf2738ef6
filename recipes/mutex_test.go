package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes"
	"github.com/gocurator/curator/testing/zktest"
)

// Curator: TestInterProcessMutexBase#testLocker, #test2Clients.
func TestOneHolderAndHandOver(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c1, _ := w.connect(t)
		c2, _ := w.connect(t)
		first := acquire(t, ctx, recipes.NewInterProcessMutex(c1, path))
		require.NoError(t, first.Context().Err())

		second := acquireLater(ctx, recipes.NewInterProcessMutex(c2, path))
		w.waitNodes(t, path, 2)
		require.False(t, second.over())

		require.NoError(t, first.Release(ctx))
		require.ErrorIs(t, context.Cause(first.Context()), recipes.ErrReleased)
		require.NoError(t, second.wait(t).Release(ctx))
		w.nothingLeft(t, path)
	})
}

func TestWaitersAreAdmittedInOrderOfArrival(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		m := recipes.NewInterProcessMutex(c, path)
		lease := acquire(t, ctx, m)

		const waiters = 5
		order := make(chan int, waiters)
		for i := range waiters {
			go func() {
				if lease, err := m.Acquire(ctx); err == nil {
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

// Curator: #testReentrantSingleLock. Goroutines that share one object exclude each other.
func TestGoroutinesOnOneMutexExcludeEachOther(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		m := recipes.NewInterProcessMutex(c, path)
		var inside, entered atomic.Int32
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				for range 3 {
					lease, err := m.Acquire(ctx)
					if err != nil {
						t.Error(err)
						return
					}
					if inside.Add(1) != 1 {
						t.Error("two holders")
					}
					entered.Add(1)
					inside.Add(-1)
					lease.Release(ctx)
				}
			})
		}
		wg.Wait()
		require.EqualValues(t, 30, entered.Load())
		w.nothingLeft(t, path)
	})
}

// Curator: #testReentrant. The lock is free when the last of its leases is released, in whatever order.
func TestReentryIsCounted(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		m := recipes.NewInterProcessMutex(c, path)
		outer := acquire(t, ctx, m)
		middle := acquire(t, outer.Context(), m)
		inner := acquire(t, context.WithValue(middle.Context(), pending{}, 1), recipes.NewInterProcessMutex(c, path))
		try, err := m.TryAcquire(inner.Context())
		require.NoError(t, err)

		require.Equal(t, outer.Path(), inner.Path())
		require.Equal(t, outer.FencingToken(), inner.FencingToken())
		require.Len(t, w.waitNodes(t, path, 1), 1)

		require.NoError(t, outer.Release(ctx))
		require.NoError(t, middle.Release(ctx))
		require.NoError(t, try.Release(ctx))
		require.NoError(t, inner.Context().Err(), "a lease lives until it is released itself")
		w.waitNodes(t, path, 1)
		require.NoError(t, inner.Release(ctx))
		w.nothingLeft(t, path)
	})
}

// Curator: #testReentrant2Threads. Only the context of a lease re-enters.
func TestOthersDoNotReenter(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c1, _ := w.connect(t)
		c2, _ := w.connect(t)
		m := recipes.NewInterProcessMutex(c1, path)
		lease := acquire(t, ctx, m)
		nested := acquire(t, lease.Context(), m)

		_, err := m.TryAcquire(ctx)
		require.ErrorIs(t, err, recipes.ErrNotAcquired, "another goroutine of the same object")
		_, err = recipes.NewInterProcessMutex(c2, path).TryAcquire(lease.Context())
		require.ErrorIs(t, err, recipes.ErrNotAcquired, "another client")
		other := acquire(t, lease.Context(), recipes.NewInterProcessMutex(c1, path+"-other"))
		require.NotEqual(t, lease.Path(), other.Path(), "another lock")

		require.NoError(t, other.Release(ctx))
		require.NoError(t, nested.Release(ctx))
		require.NoError(t, lease.Release(ctx))
		w.nothingLeft(t, path)
	})
}

// A context that was made under a lease, but outlived it, is like any other.
func TestNoReentryAfterRelease(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		m := recipes.NewInterProcessMutex(c, path)
		lease := acquire(t, ctx, m)
		require.NoError(t, lease.Release(ctx))

		_, err := m.Acquire(lease.Context())
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, recipes.ErrReleased)

		again := acquire(t, context.WithoutCancel(lease.Context()), m)
		require.NotEqual(t, lease.Path(), again.Path())
		require.NoError(t, again.Release(ctx))
	})
}

func TestTryAcquireNamesTheHolderAndLeavesNothing(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		m := recipes.NewInterProcessMutex(c, path)
		holder := acquire(t, ctx, m)
		_, err := m.TryAcquire(ctx)

		var refused *recipes.NotAcquiredError
		require.ErrorAs(t, err, &refused)
		require.ErrorIs(t, err, recipes.ErrNotAcquired)
		require.Equal(t, 1, refused.Ahead)
		require.Equal(t, holder.Path(), path+"/"+refused.Holder)
		require.NotEmpty(t, refused.Identity)
		require.Nil(t, refused.Err)
		w.waitNodes(t, path, 1)

		require.NoError(t, holder.Release(ctx))
		lease, err := m.TryAcquire(ctx)
		require.NoError(t, err)
		require.NoError(t, lease.Release(ctx))
		w.nothingLeft(t, path)
	})
}

func TestDeadlineNamesTheHolderAndOurPositionAndLeavesNothing(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		m := recipes.NewInterProcessMutex(c, path)
		holder := acquire(t, ctx, m)
		ahead := acquireLater(ctx, m)
		w.waitNodes(t, path, 2)

		start := time.Now()
		soon, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
		defer cancel()
		_, err := m.Acquire(soon)
		require.WithinRange(t, time.Now(), start.Add(300*time.Millisecond), start.Add(500*time.Millisecond))

		var refused *recipes.NotAcquiredError
		require.ErrorAs(t, err, &refused)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 2, refused.Ahead)
		require.Equal(t, holder.Path(), path+"/"+refused.Holder)

		require.NoError(t, holder.Release(ctx))
		require.NoError(t, ahead.wait(t).Release(ctx))
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
		last := acquireLater(ctx, m)
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

func TestFencingTokenIsTheNodesCzxidAndGrows(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		var last int64
		for i := range 4 {
			c, knife := w.connect(t)
			lease := acquire(t, ctx, recipes.NewInterProcessMutex(c, path))
			_, stat, err := w.observer.Get(ctx, lease.Path())
			require.NoError(t, err)
			require.Equal(t, stat.Czxid, lease.FencingToken())
			require.Greater(t, lease.FencingToken(), last)
			last = lease.FencingToken()

			if i == 1 { // the next holder is in another session, after a loss
				knife.expire(t)
				<-lease.Context().Done()
			}
			lease.Release(ctx)
			w.waitNodes(t, path, 0)
			if i == 2 { // the parent is gone, and its sequence with it
				require.NoError(t, w.observer.Delete(ctx, path, framework.AnyVersion))
			}
		}
	})
}

func TestLeaseContextCarriesTheCallersValuesButNotItsEnd(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		path := path(t)
		c, _ := w.connect(t)
		type key struct{}
		ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), key{}, "request 7"), time.Second)
		defer cancel()
		lease := acquire(t, ctx, recipes.NewInterProcessMutex(c, path))
		<-ctx.Done()
		require.Equal(t, "request 7", lease.Context().Value(key{}))
		require.NoError(t, lease.Context().Err())
		_, hasDeadline := lease.Context().Deadline()
		require.False(t, hasDeadline)
		require.NoError(t, lease.Release(w.patience(t)))
	})
}

func TestUnderEndsWithTheLeaseAndWithTheContext(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		path := path(t)
		c, _ := w.connect(t)
		m := recipes.NewInterProcessMutex(c, path)
		lease := acquire(t, t.Context(), m)
		type key struct{}

		request, cancelRequest := context.WithCancelCause(context.WithValue(t.Context(), key{}, "request 7"))
		under, done := lease.Under(request)
		defer done()
		require.Equal(t, "request 7", under.Value(key{}))
		require.NoError(t, acquire(t, under, m).Release(t.Context()), "it re-enters")
		cancelRequest(errors.New("the customer went home"))
		<-under.Done()
		require.EqualError(t, context.Cause(under), "the customer went home")
		require.NoError(t, lease.Context().Err())

		request, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		under, done = lease.Under(request)
		defer done()
		deadline, ok := under.Deadline()
		require.True(t, ok)
		require.Equal(t, time.Now().Add(time.Second), deadline)
		<-under.Done()
		require.ErrorIs(t, under.Err(), context.DeadlineExceeded)

		under, done = lease.Under(t.Context())
		done()
		require.ErrorIs(t, under.Err(), context.Canceled)
		require.NoError(t, lease.Context().Err())

		under, done = lease.Under(t.Context())
		defer done()
		require.NoError(t, lease.Release(t.Context()))
		require.ErrorIs(t, context.Cause(under), recipes.ErrReleased, "at once, not soon")
	})
}

// Two locks are held under a context that ends with either, and re-enters both.
func TestUnderTwoLocks(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		path := path(t)
		c, _ := w.connect(t)
		a, b := recipes.NewInterProcessMutex(c, path+"-a"), recipes.NewInterProcessMutex(c, path+"-b")
		leaseA := acquire(t, t.Context(), a)
		leaseB := acquire(t, leaseA.Context(), b)
		both, done := leaseB.Under(leaseA.Context())
		defer done()
		for _, m := range []*recipes.InterProcessMutex{a, b} {
			lease, err := m.TryAcquire(both)
			require.NoError(t, err)
			require.NoError(t, lease.Release(t.Context()))
		}
		require.NoError(t, leaseA.Release(t.Context()))
		<-both.Done()
		require.ErrorIs(t, context.Cause(both), recipes.ErrReleased)
		require.NoError(t, leaseB.Context().Err())
		require.NoError(t, leaseB.Release(t.Context()))
	})
}

// The holder has stopped when the server hears of the release.
func TestReleaseEndsTheContextBeforeItTellsTheServer(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.connect(t)
		lease := acquire(t, t.Context(), recipes.NewInterProcessMutex(c, path(t)))
		under, done := lease.Under(t.Context())
		defer done()
		told := w.fake.Inject(zktest.Rule{Op: zktest.OpDelete, Do: zktest.Call(func(zktest.Request) {
			if lease.Context().Err() == nil || under.Err() == nil {
				t.Error("still working when the server is told")
			}
		})})
		require.NoError(t, lease.Release(t.Context()))
		require.Equal(t, 1, told.Hits())
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
					queue[i] = acquireLater(ctx, m)
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

func TestOrderSurvivesTheSequenceWrap(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		m := recipes.NewInterProcessMutex(c, path)
		require.NoError(t, w.fake.Create(path, nil))
		require.NoError(t, w.fake.SetSequence(path, 1<<31-2))
		lease := acquire(t, ctx, m) // 2147483646
		for i := range 4 {
			next := acquireLater(ctx, m) // 2147483647, -2147483648, -2147483647, -2147483646
			w.waitNodes(t, path, 2)
			synctest.Wait()
			require.False(t, next.over(), "waiter %d", i)
			require.NoError(t, lease.Release(ctx))
			lease = next.wait(t)
		}
		require.Contains(t, lease.Path(), "lock--2147483646")
		require.NoError(t, lease.Release(ctx))
	})
}

// Curator: #testContainerCleanup. The server may remove the lock's path whenever it has no children.
func TestLockSurvivesReapingOfItsPath(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		m := recipes.NewInterProcessMutex(c, path)
		for range 10 {
			require.NoError(t, acquire(t, ctx, m).Release(ctx))
			require.Equal(t, 1, w.fake.ReapContainers())
		}
		// Just after the path was found to be missing, and just after it was made again.
		for after := range 2 {
			w.fake.Inject(zktest.Rule{Op: zktest.OpCreateContainer, After: after, Do: zktest.CallAfter(func(zktest.Request) {
				w.fake.Delete(path)
			})})
			require.NoError(t, acquire(t, ctx, m).Release(ctx))
		}
		w.nothingLeft(t, path)
	})
}

// Curator: #testWithNamespace. The lock's path is below the client's chroot.
func TestLockUnderAChroot(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.patience(t)
		w.addr += "/shop/eu"
		c, _ := w.connect(t)
		lease := acquire(t, ctx, recipes.NewInterProcessMutex(c, "/l"))
		require.Len(t, w.fake.Children("/shop/eu/l"), 1)
		require.Regexp(t, "^/l/_c_", lease.Path())
		_, err := recipes.NewInterProcessMutex(c, "/l").TryAcquire(ctx)
		require.ErrorIs(t, err, recipes.ErrNotAcquired)
		require.NoError(t, lease.Release(ctx))
		require.Empty(t, w.fake.Children("/shop/eu/l"))
	})
}

// The layout that Java Curator reads and writes: reference implementation InterProcessMutex, StandardLockInternalsDriver.
func TestNodeLayoutIsCurators(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		lease := acquire(t, ctx, recipes.NewInterProcessMutex(c, path))
		require.Regexp(t, `^`+path+`/_c_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}-lock-\d{10}$`, lease.Path())
		node, ok := w.fake.Node(lease.Path())
		require.True(t, ok)
		require.Equal(t, c.SessionID(), node.Stat.EphemeralOwner)
		require.NoError(t, lease.Release(ctx))
		require.Equal(t, 1, w.fake.ReapContainers(), "the parent is a container")
	})
}
