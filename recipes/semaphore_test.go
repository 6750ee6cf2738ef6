package recipes_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes"
	"github.com/gocurator/curator/testing/zktest"
)

func TestSemaphoreHasItsLimitOfLeases(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		s := recipes.NewInterProcessSemaphore(c, path, 3)
		var leases []*recipes.Lease
		for range 3 {
			leases = append(leases, hold(t, ctx, s))
		}
		_, err := s.TryAcquire(ctx)
		require.ErrorIs(t, err, recipes.ErrNotAcquired)
		fourth := take(ctx, s)
		w.waitNodes(t, path+"/leases", 4)
		require.False(t, fourth.over())
		require.NoError(t, leases[1].Release(ctx))
		leases[1] = fourth.wait(t)
		for _, l := range leases {
			require.NoError(t, l.Release(ctx))
		}
		w.waitNodes(t, path+"/locks", 0)
		w.nothingLeft(t, path+"/leases")
	})
}

// E16: in Curator, two who want both of two leases may each get one, and wait for ever.
func TestSeveralLeasesAreAllOrNone(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		var all sync.WaitGroup
		for range 2 {
			c, _ := w.connect(t)
			s := recipes.NewInterProcessSemaphore(c, path, 2)
			all.Go(func() {
				for range 20 {
					lease, err := s.AcquireN(ctx, 2)
					if err != nil {
						t.Error(err)
						return
					}
					lease.Release(ctx)
				}
			})
		}
		all.Wait()
		w.waitNodes(t, path+"/locks", 0)
		w.nothingLeft(t, path+"/leases")
	})
}

func TestSemaphoreIsNeverExceeded(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		const limit = 11
		ctx, path := w.patience(t), path(t)
		var held, most atomic.Int64
		var all sync.WaitGroup
		for i := range 10 {
			c, _ := w.connect(t)
			s := recipes.NewInterProcessSemaphore(c, path, limit)
			for range 3 {
				all.Go(func() {
					for n := range 4 {
						want := 1 + (i+n)%4
						lease, err := s.AcquireN(ctx, want)
						if err != nil {
							t.Error(err)
							return
						}
						now := held.Add(int64(want))
						if now > limit {
							t.Error("too many: ", now)
						}
						for m := most.Load(); now > m && !most.CompareAndSwap(m, now); m = most.Load() {
						}
						time.Sleep(time.Millisecond)
						held.Add(int64(-want))
						lease.Release(ctx)
					}
				})
			}
		}
		all.Wait()
		require.Greater(t, most.Load(), int64(1), "several at once")
		w.waitNodes(t, path+"/locks", 0)
		w.nothingLeft(t, path+"/leases")
	})
}

func TestSharedLimitIsRaisedWhileSomeWait(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		limit := path + "-limit"
		s := recipes.NewInterProcessSemaphore(c, path, 1, recipes.WithSharedLimit(limit))
		first := hold(t, ctx, s)
		data, _, err := w.observer.Get(ctx, limit)
		require.NoError(t, err)
		require.Equal(t, []byte{0, 0, 0, 1}, data, "the encoding of Curator's SharedCount")

		second := take(ctx, s)
		w.waitNodes(t, path+"/leases", 2)
		require.False(t, second.over())
		require.NoError(t, recipes.SetSharedLimit(ctx, w.observer, limit, 2))
		lease := second.wait(t)

		require.NoError(t, recipes.SetSharedLimit(ctx, w.observer, limit, 1))
		third := take(ctx, s)
		w.waitNodes(t, path+"/leases", 3)
		require.NoError(t, lease.Context().Err(), "a lower limit takes nobody's lease")
		require.NoError(t, lease.Release(ctx))
		w.waitNodes(t, path+"/leases", 2)
		require.False(t, third.over())
		require.NoError(t, first.Release(ctx))
		require.NoError(t, third.wait(t).Release(ctx))
		w.waitNodes(t, path+"/locks", 0)
		w.nothingLeft(t, path+"/leases")
	})
}

func TestSemaphoreLimitsThatCannotBeUsed(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.patience(t)
		c, _ := w.connect(t)
		for _, n := range []int{0, -1, 4} {
			_, err := recipes.NewInterProcessSemaphore(c, "/s", 3).AcquireN(ctx, n)
			require.ErrorIs(t, err, zk.ErrBadArguments, n)
		}
		_, err := recipes.NewInterProcessSemaphore(c, "/s", 0).Acquire(ctx)
		require.ErrorIs(t, err, zk.ErrBadArguments)
		_, err = recipes.NewInterProcessSemaphore(c, "/s", 1, recipes.WithSharedLimit("")).Acquire(ctx)
		require.ErrorIs(t, err, zk.ErrBadArguments)
		require.ErrorIs(t, recipes.SetSharedLimit(ctx, c, "/limit", -1), zk.ErrBadArguments)
		_, err = recipes.NewInterProcessSemaphore(c, "/s", 1, recipes.WithSharedLimit("no path")).Acquire(ctx)
		require.ErrorIs(t, err, zk.ErrInvalidPath)
		require.NoError(t, w.fake.Create("/corrupted", []byte("seven")))
		_, err = recipes.NewInterProcessSemaphore(c, "/s", 1, recipes.WithSharedLimit("/corrupted")).Acquire(ctx)
		require.ErrorIs(t, err, recipes.ErrCorrupted)
		w.nothingLeft(t, "/s/leases")
		w.nothingLeft(t, "/s/locks")
	})
}

// Whoever gives up while waiting for a lease leaves neither the lease nor the gate behind.
func TestSemaphoreWaiterThatGivesUpLeavesNothing(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		other, _ := w.connect(t)
		s := recipes.NewInterProcessSemaphore(c, path, 2)
		first := hold(t, ctx, s)
		leaving, cancel := context.WithCancel(ctx)
		going := make(chan error)
		go func() { _, err := s.AcquireN(leaving, 2); going <- err }()
		w.waitNodes(t, path+"/leases", 3)
		next := take(ctx, recipes.NewInterProcessSemaphore(other, path, 2))
		w.waitNodes(t, path+"/locks", 2)
		cancel()
		require.ErrorIs(t, <-going, context.Canceled)
		require.NoError(t, next.wait(t).Release(ctx))
		require.NoError(t, first.Release(ctx))
		w.waitNodes(t, path+"/locks", 0)
		w.nothingLeft(t, path+"/leases")
	})
}

// Somebody deletes what a waiter has made: it makes it anew, and leaves nothing over (Curator's testNoOrphanedNodes).
func TestSemaphoreWaiterWhoseNodesAreDeletedGoesOn(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		s := recipes.NewInterProcessSemaphore(c, path, 1)
		first := hold(t, ctx, s)
		waiting := take(ctx, s)
		for range 3 {
			for _, name := range w.waitNodes(t, path+"/leases", 2) {
				if p := path + "/leases/" + name; p != first.Path() {
					require.NoError(t, w.fake.Delete(p))
				}
			}
			synctest.Wait()
		}
		require.NoError(t, w.fake.Delete(path+"/locks/"+w.nodes(t, path+"/locks")[0])) // the gate
		time.Sleep(2 * time.Second)
		require.False(t, waiting.over())
		require.NoError(t, first.Release(ctx))
		require.NoError(t, waiting.wait(t).Release(ctx))
		time.Sleep(time.Second)
		w.waitNodes(t, path+"/locks", 0)
		w.nothingLeft(t, path+"/leases")
	})
}

// The waiter for a lease loses its session: it begins again, at the gate.
func TestSemaphoreWaiterGoesOnInTheNextSession(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		other, _ := w.connect(t)
		first := hold(t, ctx, recipes.NewInterProcessSemaphore(other, path, 1))
		waiting := take(ctx, recipes.NewInterProcessSemaphore(c, path, 1))
		w.waitNodes(t, path+"/leases", 2)
		w.fake.ExpireSession(c.SessionID())
		w.waitNodes(t, path+"/leases", 2)
		require.NoError(t, first.Release(ctx))
		lease := waiting.wait(t)
		require.NoError(t, lease.Context().Err())
		require.NoError(t, lease.Release(ctx))
		w.waitNodes(t, path+"/locks", 0)
		w.nothingLeft(t, path+"/leases")
	})
}

func TestLeaseOfSeveralEndsWithAnyOfItsNodes(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		s := recipes.NewInterProcessSemaphore(c, path, 3)
		lease, err := s.AcquireN(ctx, 3)
		require.NoError(t, err)
		time.Sleep(2 * time.Second)
		list, err := s.Participants(ctx)
		require.NoError(t, err)
		require.Len(t, list, 3)
		require.NoError(t, w.fake.Delete(list[2].Path))
		<-lease.Context().Done()
		require.ErrorIs(t, context.Cause(lease.Context()), recipes.ErrNodeDeleted)
		require.ErrorIs(t, lease.Release(ctx), recipes.ErrNodeDeleted)
		w.waitNodes(t, path+"/locks", 0)
		w.nothingLeft(t, path+"/leases")
	})
}

func TestUncontendedSemaphoreSetsNoWatch(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		for _, opt := range [][]recipes.LockOption{nil, {recipes.WithSharedLimit(path + "-limit")}} {
			s := recipes.NewInterProcessSemaphore(c, path, 3, opt...)
			require.NoError(t, hold(t, ctx, s).Release(ctx)) // makes the parents
			synctest.Wait()
			w.fake.ClearRequests()
			lease := hold(t, ctx, s)
			synctest.Wait()
			want := []zktest.Op{zktest.OpCreate, zktest.OpGetChildren2, zktest.OpCreate, zktest.OpGetChildren2, zktest.OpDelete}
			if opt != nil {
				want = slices.Insert(want, 4, zktest.OpGetData)
			}
			require.Equal(t, want, w.requests())
			require.NoError(t, lease.Release(ctx))
		}
	})
}

// Only the first of those who wait looks at the leases.
func TestNoHerdAtTheSemaphore(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		const waiters = 50
		var all []*pending
		first, _ := w.connect(t)
		lease := hold(t, ctx, recipes.NewInterProcessSemaphore(first, path, 1))
		for i := range waiters {
			c, _ := w.connect(t)
			all = append(all, take(ctx, recipes.NewInterProcessSemaphore(c, path, 1)))
			w.waitNodes(t, path+"/locks", i+1)
		}
		synctest.Wait()
		events := w.fake.Stats().Notifications
		w.fake.ClearRequests()
		require.NoError(t, lease.Release(ctx))
		lease = all[0].wait(t)
		synctest.Wait()
		require.LessOrEqual(t, w.fake.Stats().Notifications-events, 4)
		require.Less(t, len(w.requests()), 10)
		for _, p := range all[1:] {
			require.NoError(t, lease.Release(ctx))
			lease = p.wait(t)
		}
		require.NoError(t, lease.Release(ctx))
		w.waitNodes(t, path+"/locks", 0)
		w.nothingLeft(t, path+"/leases")
	})
}

func TestSemaphoreMutexExcludesOthersAndItself(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		m := recipes.NewInterProcessSemaphoreMutex(c, path)
		lease := hold(t, ctx, m)
		_, err := m.TryAcquire(lease.Context())
		require.ErrorIs(t, err, recipes.ErrNotAcquired, "it is not re-entrant")
		short, cancel := context.WithTimeout(lease.Context(), time.Second)
		defer cancel()
		_, err = m.Acquire(short)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, recipes.ErrNotAcquired)
		require.NoError(t, lease.Release(ctx))
		require.NoError(t, m.Do(ctx, func(context.Context) error { return nil }))
		w.waitNodes(t, path+"/locks", 0)
		w.nothingLeft(t, path+"/leases")
	})
}

func TestClosedClientFreesItsLeases(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		closing := recipes.NewInterProcessSemaphore(c, path, 3)
		lease, err := closing.AcquireN(ctx, 2)
		require.NoError(t, err)
		theirs := make(chan error)
		go func() { _, err := closing.AcquireN(ctx, 2); theirs <- err }()
		w.waitNodes(t, path+"/leases", 4)
		ours := take(ctx, recipes.NewInterProcessSemaphore(w.observer, path, 3))
		w.waitNodes(t, path+"/locks", 2)
		require.NoError(t, c.Close())
		require.ErrorIs(t, context.Cause(lease.Context()), framework.ErrClosed)
		require.ErrorIs(t, <-theirs, framework.ErrClosed)
		require.NoError(t, ours.wait(t).Release(ctx))
		w.waitNodes(t, path+"/locks", 0)
		w.nothingLeft(t, path+"/leases")
	})
}

// Two are at the leases at once, because somebody has deleted the gate of one. Each would wait for the other's lease if
// who has lost the gate did not begin anew.
func TestTwoAtTheLeasesDoNotWaitForEachOther(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		other, _ := w.connect(t)
		first := hold(t, ctx, recipes.NewInterProcessSemaphore(w.observer, path, 1))
		all := []*pending{take(ctx, recipes.NewInterProcessSemaphore(c, path, 1))}
		gate := w.waitNodes(t, path+"/locks", 1)[0]
		w.waitNodes(t, path+"/leases", 2)
		all = append(all, take(ctx, recipes.NewInterProcessSemaphore(other, path, 1)))
		w.waitNodes(t, path+"/locks", 2)
		require.NoError(t, w.fake.Delete(path+"/locks/"+gate))
		w.waitNodes(t, path+"/leases", 3)
		require.NoError(t, first.Release(ctx))
		lease := all[1].wait(t)
		require.False(t, all[0].over())
		require.NoError(t, lease.Release(ctx))
		require.NoError(t, all[0].wait(t).Release(ctx))
		w.waitNodes(t, path+"/locks", 0)
		w.nothingLeft(t, path+"/leases")
	})
}
