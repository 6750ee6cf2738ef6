package leader_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// The leadership ends with the work, even if the work has acquired a lease that
// it does not release. The work may have forgotten the lease, or left it to
// another goroutine. No leader could be asked to stop then.
func TestLeadershipEndsWithTheWorkWhoeverHasReenteredIt(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		var left *locks.Lease
		require.NoError(t, leader.NewSelector(c, path).Run(ctx, func(ctx context.Context) error {
			left = locktest.Acquire(t, ctx, locks.NewInterProcessMutex(c, path))
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

// Work may release its lease, as the holder of a lock would. The release ends the
// leadership. Other candidates lead only when the work has returned.
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

// Work may close its own client. Close does not wait for the work.
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

// After a leadership that has failed, the selector pauses for a second, in
// which another candidate may lead. After one that has not failed, it stands
// again at once.
func TestRequeuePausesAfterAFailedLeadership(t *testing.T) {
	failed := errors.New("failed")
	for result, pauses := range map[error]time.Duration{failed: 3 * time.Second, nil: 0} {
		inVirtualTime(t, func(t *testing.T, w *world) {
			c, _ := w.Connect(t)
			leaderships := 0
			s := leader.NewSelector(c, "/l", leader.WithRequeue(func(error) bool { return leaderships < 4 }))
			start := time.Now()
			err := s.Run(t.Context(), func(context.Context) error {
				require.Equal(t, pauses*time.Duration(leaderships)/3, time.Since(start))
				require.Len(t, w.Nodes(t, "/l"), 1)
				leaderships++
				return result
			})
			require.Equal(t, result, err)
			require.Equal(t, 4, leaderships)
			require.Equal(t, pauses, time.Since(start), "the last is returned at once")
			w.NothingLeft(t, "/l")
		})
	}
}

// The pause ends with Run's context. The selector has no node during the pause.
func TestRunIsCancelledDuringThePause(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		start := time.Now()
		err := leader.NewSelector(c, "/l", always()).Run(recipetest.Within(t, time.Second/2), func(context.Context) error {
			time.AfterFunc(time.Second/4, func() { assert.Empty(t, w.Fake.Children("/l")) })
			return errors.New("failed")
		})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, time.Second/2, time.Since(start))
		w.NothingLeft(t, "/l")
	})
}

// Run is called under a mutex on its path, which was lost. Run returns the
// loss, as the mutex would: the caller believes that it holds the mutex.
func TestRunUnderALostMutexTellsOfTheLoss(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, network := w.Connect(t)
		lease := locktest.Acquire(t, t.Context(), locks.NewInterProcessMutex(c, "/l"))
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
