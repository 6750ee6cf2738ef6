package locks_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
)

// In Curator, two clients that want both of two leases may each get one, and
// wait for ever.
//
// Promise: AcquireN takes all n leases or none.
func TestSeveralLeasesAreAllOrNone(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		var all sync.WaitGroup
		for range 2 {
			c, _ := w.Connect(t)
			s := locks.NewInterProcessSemaphore(c, path, locks.Limit(2))
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
		w.WaitNodes(t, path+"/locks", 0)
		w.NothingLeft(t, path+"/leases")
	})
}

func TestSharedLimitIsRaisedWhileSomeWait(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		limit := path + "-limit"
		s := locks.NewInterProcessSemaphore(c, path, locks.SharedLimit(limit, 1))
		first := hold(t, ctx, s)
		data, _, err := w.Observer.Get(ctx, limit)
		require.NoError(t, err)
		require.Equal(t, []byte{0, 0, 0, 1}, data, "the encoding of Curator's SharedCount")

		second := take(ctx, s)
		w.WaitNodes(t, path+"/locks", 1)
		require.False(t, second.IsOver())
		require.NoError(t, locks.SetSharedLimit(ctx, w.Observer, limit, 2))
		lease := second.Wait(t)

		require.NoError(t, locks.SetSharedLimit(ctx, w.Observer, limit, 1))
		third := take(ctx, s)
		w.WaitNodes(t, path+"/locks", 1)
		require.NoError(t, lease.Context().Err(), "a lower limit takes nobody's lease")
		require.NoError(t, lease.Release(ctx))
		w.WaitNodes(t, path+"/leases", 1)
		require.False(t, third.IsOver())
		require.NoError(t, first.Release(ctx))
		require.NoError(t, third.Wait(t).Release(ctx))
		w.WaitNodes(t, path+"/locks", 0)
		w.NothingLeft(t, path+"/leases")
	})
}

func TestSemaphoreLimitsThatCannotBeUsed(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		c, _ := w.Connect(t)
		for _, n := range []int{0, -1, 4} {
			_, err := locks.NewInterProcessSemaphore(c, "/s", locks.Limit(3)).AcquireN(ctx, n)
			require.ErrorIs(t, err, zk.ErrBadArguments, n)
		}
		_, err := locks.NewInterProcessSemaphore(c, "/s", locks.Limit(0)).Acquire(ctx)
		require.ErrorIs(t, err, zk.ErrBadArguments)
		_, err = locks.NewInterProcessSemaphore(c, "/s", locks.SharedLimit("", 1)).Acquire(ctx)
		require.ErrorIs(t, err, zk.ErrBadArguments)
		require.ErrorIs(t, locks.SetSharedLimit(ctx, c, "/limit", -1), zk.ErrBadArguments)
		_, err = locks.NewInterProcessSemaphore(c, "/s", locks.SharedLimit("no path", 1)).Acquire(ctx)
		require.ErrorIs(t, err, zk.ErrInvalidPath)
		require.NoError(t, w.Fake.Create("/corrupted", []byte("seven")))
		_, err = locks.NewInterProcessSemaphore(c, "/s", locks.SharedLimit("/corrupted", 1)).Acquire(ctx)
		require.ErrorIs(t, err, locks.ErrCorrupted)
		w.NothingLeft(t, "/s/leases")
		w.NothingLeft(t, "/s/locks")
	})
}

func TestLeaseOfSeveralEndsWithAnyOfItsNodes(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		s := locks.NewInterProcessSemaphore(c, path, locks.Limit(3))
		lease, err := s.AcquireN(ctx, 3)
		require.NoError(t, err)
		time.Sleep(2 * time.Second)
		list, err := s.Participants(ctx)
		require.NoError(t, err)
		require.Len(t, list, 3)
		require.NoError(t, w.Fake.Delete(list[2].Path))
		<-lease.Context().Done()
		require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrNodeDeleted)
		require.ErrorIs(t, lease.Release(ctx), locks.ErrNodeDeleted)
		w.WaitNodes(t, path+"/locks", 0)
		w.NothingLeft(t, path+"/leases")
	})
}

// Only the first of the waiters looks at the leases.
func TestNoHerdAtTheSemaphore(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		const waiters = 50
		var all []*locktest.Pending
		first, _ := w.Connect(t)
		lease := hold(t, ctx, locks.NewInterProcessSemaphore(first, path, locks.Limit(1)))
		for i := range waiters {
			c, _ := w.Connect(t)
			all = append(all, take(ctx, locks.NewInterProcessSemaphore(c, path, locks.Limit(1))))
			w.WaitNodes(t, path+"/locks", i+1)
		}
		synctest.Wait()
		events := w.Fake.Stats().Notifications
		w.Fake.ClearRequests()
		require.NoError(t, lease.Release(ctx))
		lease = all[0].Wait(t)
		synctest.Wait()
		require.LessOrEqual(t, w.Fake.Stats().Notifications-events, 4)
		require.Less(t, len(w.Requests()), 10)
		for _, p := range all[1:] {
			require.NoError(t, lease.Release(ctx))
			lease = p.Wait(t)
		}
		require.NoError(t, lease.Release(ctx))
		w.WaitNodes(t, path+"/locks", 0)
		w.NothingLeft(t, path+"/leases")
	})
}

func TestSemaphoreMutexExcludesOthersAndItself(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		m := locks.NewInterProcessSemaphoreMutex(c, path)
		lease := hold(t, ctx, m)
		_, err := m.TryAcquire(lease.Context())
		require.ErrorIs(t, err, locks.ErrNotAcquired, "it is not re-entrant")
		short, cancel := context.WithTimeout(lease.Context(), time.Second)
		defer cancel()
		_, err = m.Acquire(short)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, locks.ErrNotAcquired)
		require.NoError(t, lease.Release(ctx))
		require.NoError(t, m.Do(ctx, func(context.Context) error { return nil }))
		w.WaitNodes(t, path+"/locks", 0)
		w.NothingLeft(t, path+"/leases")
	})
}
