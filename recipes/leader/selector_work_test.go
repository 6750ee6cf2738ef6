package leader_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/recipetest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// The leadership ends with the work, also if what the work has re-entered is
// not released, because it was forgotten, or belongs to a goroutine that was
// left behind: nobody leads there who could be asked to stop.
func TestLeadershipEndsWithTheWorkWhoeverHasReenteredIt(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		var left *locks.Lease
		require.NoError(t, leader.NewSelector(c, path).Run(ctx, func(ctx context.Context) error {
			left = recipetest.Acquire(t, ctx, locks.NewInterProcessMutex(c, path))
			return nil
		}))
		require.ErrorIs(t, context.Cause(left.Context()), locks.ErrReleased)
		w.WaitNodes(t, path, 0)
		other, _ := w.Connect(t)
		next := w.run(t, other, path, 0)
		lease := <-next.leads
		left.Release(ctx)
		require.Len(t, w.Nodes(t, path), 1)
		require.NoError(t, lease.Context().Err(), "it is another's")
		w.stopAll(t, path, next)
	})
}

// Work that releases its lease, as one is used to, has ended its leadership.
// Others lead when it has returned.
func TestWorkThatReleasesItsLeaseKeepsItsPlace(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		s := leader.NewSelector(c, "/l")
		var second *running
		require.NoError(t, s.Run(t.Context(), func(ctx context.Context) error {
			lease, _ := locks.LeaseFromContext(ctx)
			second = w.run(t, w.Observer, "/l", 0)
			w.WaitNodes(t, "/l", 2)
			require.NoError(t, lease.Release(ctx))
			require.ErrorIs(t, context.Cause(ctx), locks.ErrReleased)
			require.Nil(t, s.Leadership())
			time.Sleep(time.Hour)
			require.Empty(t, second.leads)
			return nil
		}))
		<-second.leads
		w.stopAll(t, "/l", second)
	})
}

// Work that ends its goroutine, as a failed test does, gives the leadership
// up, and Run can be called again.
func TestWorkThatEndsItsGoroutine(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		s := leader.NewSelector(c, "/l")
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			s.Run(t.Context(), func(context.Context) error {
				runtime.Goexit()
				return nil
			})
		}()
		<-ended
		w.NothingLeft(t, "/l")
		require.NoError(t, s.Run(t.Context(), idle))
	})
}

// Work may close its own client: that does not wait for the work.
func TestWorkThatClosesItsClient(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		path := recipetest.Path(t)
		c, _ := w.Connect(t)
		require.ErrorIs(t, leader.NewSelector(c, path, always()).Run(w.Patience(t), func(ctx context.Context) error {
			require.NoError(t, c.Close())
			require.ErrorIs(t, context.Cause(ctx), framework.ErrClosed)
			return nil
		}), framework.ErrClosed)
		w.NothingLeft(t, path)
	})
}

// Between a term that has failed and the next there is a second, in which
// another leads if there is one. A term that has not failed is followed by the
// next at once.
func TestRequeuePausesAfterAFailedTerm(t *testing.T) {
	failed := errors.New("failed")
	for result, pauses := range map[error]time.Duration{failed: 3 * time.Second, nil: 0} {
		inVirtualTime(t, func(t *testing.T, w *world) {
			c, _ := w.Connect(t)
			terms := 0
			s := leader.NewSelector(c, "/l", leader.WithRequeue(func(error) bool { return terms < 4 }))
			start := time.Now()
			err := s.Run(t.Context(), func(context.Context) error {
				require.Equal(t, pauses*time.Duration(terms)/3, time.Since(start))
				require.Len(t, w.Nodes(t, "/l"), 1)
				terms++
				return result
			})
			require.Equal(t, result, err)
			require.Equal(t, 4, terms)
			require.Equal(t, pauses, time.Since(start), "the last is returned at once")
			w.NothingLeft(t, "/l")
		})
	}
}

// The pause is part of the wait: it ends with Run's context, and there is no
// node meanwhile.
func TestRunIsCancelledDuringThePause(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		start := time.Now()
		err := leader.NewSelector(c, "/l", always()).Run(recipetest.Within(t, time.Second/2), func(context.Context) error {
			time.AfterFunc(time.Second/4, func() { require.Empty(t, w.Fake.Children("/l")) })
			return errors.New("failed")
		})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, time.Second/2, time.Since(start))
		w.NothingLeft(t, "/l")
	})
}

// Under a mutex on its path that was lost, Run tells of the loss, as the mutex
// would: its caller believes to hold it.
func TestRunUnderALostMutexTellsOfTheLoss(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, network := w.Connect(t)
		lease := recipetest.Acquire(t, t.Context(), locks.NewInterProcessMutex(c, "/l"))
		under := context.WithoutCancel(lease.Context())
		require.ErrorIs(t, leader.NewSelector(c, "/l").Run(under, idle), leader.ErrRunning)
		network.Expire(t)
		w.endOf(t, lease)
		require.ErrorIs(t, leader.NewSelector(c, "/l").Run(under, idle), framework.ErrSessionLost)
		require.ErrorIs(t, lease.Release(t.Context()), framework.ErrSessionLost)
		require.NoError(t, leader.NewSelector(c, "/l").Run(under, idle), "released, it means nothing")
		w.NothingLeft(t, "/l")
	})
}
