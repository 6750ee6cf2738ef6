package recipes_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes"
)

// The leadership ends with the work, also if what the work has re-entered is not released, because it was forgotten, or
// belongs to a goroutine that was left behind: nobody leads there who could be asked to stop.
func TestLeadershipEndsWithTheWorkWhoeverHasReenteredIt(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		var left *recipes.Lease
		require.NoError(t, recipes.NewLeaderSelector(c, path).Run(ctx, func(ctx context.Context) error {
			left = acquire(t, ctx, recipes.NewInterProcessMutex(c, path))
			return nil
		}))
		require.ErrorIs(t, context.Cause(left.Context()), recipes.ErrReleased)
		w.waitNodes(t, path, 0)
		other, _ := w.connect(t)
		next := w.run(t, other, path, 0)
		lease := <-next.leads
		left.Release(ctx)
		require.Len(t, w.nodes(t, path), 1)
		require.NoError(t, lease.Context().Err(), "it is another's")
		w.stopAll(t, path, next)
	})
}

// Work that releases its lease, as one is used to, has ended its leadership. Others lead when it has returned.
func TestWorkThatReleasesItsLeaseKeepsItsPlace(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.connect(t)
		s := recipes.NewLeaderSelector(c, "/l")
		var second *running
		require.NoError(t, s.Run(t.Context(), func(ctx context.Context) error {
			lease, _ := recipes.LeaseFromContext(ctx)
			second = w.run(t, w.observer, "/l", 0)
			w.waitNodes(t, "/l", 2)
			require.NoError(t, lease.Release(ctx))
			require.ErrorIs(t, context.Cause(ctx), recipes.ErrReleased)
			require.Nil(t, s.Leadership())
			time.Sleep(time.Hour)
			require.Empty(t, second.leads)
			return nil
		}))
		<-second.leads
		w.stopAll(t, "/l", second)
	})
}

// Work that ends its goroutine, as a failed test does, gives the leadership up, and Run can be called again.
func TestWorkThatEndsItsGoroutine(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.connect(t)
		s := recipes.NewLeaderSelector(c, "/l")
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			s.Run(t.Context(), func(context.Context) error {
				runtime.Goexit()
				return nil
			})
		}()
		<-ended
		w.nothingLeft(t, "/l")
		require.NoError(t, s.Run(t.Context(), idle))
	})
}

// Work may close its own client: that does not wait for the work.
func TestWorkThatClosesItsClient(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		path := path(t)
		c, _ := w.connect(t)
		require.ErrorIs(t, recipes.NewLeaderSelector(c, path, always()).Run(w.patience(t), func(ctx context.Context) error {
			require.NoError(t, c.Close())
			require.ErrorIs(t, context.Cause(ctx), framework.ErrClosed)
			return nil
		}), framework.ErrClosed)
		w.nothingLeft(t, path)
	})
}

// Between a term that has failed and the next there is a second, in which another leads if there is one. A term that has
// not failed is followed by the next at once.
func TestRequeuePausesAfterAFailedTerm(t *testing.T) {
	failed := errors.New("failed")
	for result, pauses := range map[error]time.Duration{failed: 3 * time.Second, nil: 0} {
		inVirtualTime(t, func(t *testing.T, w *world) {
			c, _ := w.connect(t)
			terms := 0
			s := recipes.NewLeaderSelector(c, "/l", recipes.WithRequeue(func(error) bool { return terms < 4 }))
			start := time.Now()
			err := s.Run(t.Context(), func(context.Context) error {
				require.Equal(t, pauses*time.Duration(terms)/3, time.Since(start))
				require.Len(t, w.nodes(t, "/l"), 1)
				terms++
				return result
			})
			require.Equal(t, result, err)
			require.Equal(t, 4, terms)
			require.Equal(t, pauses, time.Since(start), "the last is returned at once")
			w.nothingLeft(t, "/l")
		})
	}
}

// The pause is part of the wait: it ends with Run's context, and there is no node meanwhile.
func TestRunIsCancelledDuringThePause(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.connect(t)
		start := time.Now()
		err := recipes.NewLeaderSelector(c, "/l", always()).Run(within(t, time.Second/2), func(context.Context) error {
			time.AfterFunc(time.Second/4, func() { require.Empty(t, w.fake.Children("/l")) })
			return errors.New("failed")
		})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, time.Second/2, time.Since(start))
		w.nothingLeft(t, "/l")
	})
}

// Under a mutex on its path that was lost, Run tells of the loss, as the mutex would: its caller believes to hold it.
func TestRunUnderALostMutexTellsOfTheLoss(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, knife := w.connect(t)
		lease := acquire(t, t.Context(), recipes.NewInterProcessMutex(c, "/l"))
		under := context.WithoutCancel(lease.Context())
		require.ErrorIs(t, recipes.NewLeaderSelector(c, "/l").Run(under, idle), recipes.ErrRunning)
		knife.expire(t)
		w.endOf(t, lease)
		require.ErrorIs(t, recipes.NewLeaderSelector(c, "/l").Run(under, idle), framework.ErrSessionLost)
		require.ErrorIs(t, lease.Release(t.Context()), framework.ErrSessionLost)
		require.NoError(t, recipes.NewLeaderSelector(c, "/l").Run(under, idle), "released, it means nothing")
		w.nothingLeft(t, "/l")
	})
}
