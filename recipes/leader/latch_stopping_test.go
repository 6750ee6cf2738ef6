package leader_test

import (
	"context"
	"path"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// moment is less than what these tests tell apart, and more than a request
// takes.
const moment = 10 * time.Millisecond

// ledUntil is a leader whose leadership is lost.
type ledUntil struct {
	lead  func(t *testing.T, l *leader.Latch, lease *locks.Lease) // until it has stopped
	after time.Duration                                           // the loss, somebody leads
}

// waysToStop returns leaders that take that long to stop. Only some of them say
// that they have stopped.
func waysToStop(stopping, margin time.Duration) map[string]ledUntil {
	stop := func(lease *locks.Lease) {
		<-lease.Context().Done()
		time.Sleep(stopping)
	}
	return map[string]ledUntil{
		"nobody says that the work has stopped": {
			func(_ *testing.T, _ *leader.Latch, lease *locks.Lease) { stop(lease) }, margin,
		},
		"Lead's work returns": {func(t *testing.T, l *leader.Latch, lease *locks.Lease) {
			assert.ErrorIs(t, l.Lead(t.Context(), func(ctx context.Context) error {
				stop(lease)
				return nil
			}), leader.ErrClosed)
		}, stopping},
		"Lead's work takes too long": {func(t *testing.T, l *leader.Latch, lease *locks.Lease) {
			assert.ErrorIs(t, l.Lead(t.Context(), func(ctx context.Context) error {
				stop(lease)
				time.Sleep(margin)
				return nil
			}), leader.ErrClosed)
		}, margin},
		"the lease is released": {func(t *testing.T, _ *leader.Latch, lease *locks.Lease) {
			stop(lease)
			assert.Error(t, lease.Release(t.Context()))
		}, stopping},
		"the latch is shut down": {func(t *testing.T, l *leader.Latch, lease *locks.Lease) {
			stop(lease)
			assert.NoError(t, l.Shutdown(t.Context()))
		}, stopping},
	}
}

// A leader that has lost its session has the safety margin to stop, also if the
// network is back at that moment, and the latch with it. The next one leads
// when somebody says that the work has stopped, or when the margin is over.
//
// Promise: The work of a lost leadership has the safety margin to stop before its node is deleted.
func TestLeaderThatLosesItsSessionHasItsMarginToStop(t *testing.T) {
	for name, row := range waysToStop(600*time.Millisecond, 900*time.Millisecond) {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				first, second, lease, network := w.leaderAndNext(t, "/l")
				led := make(chan struct{})
				go func() {
					defer close(led)
					row.lead(t, first, lease)
				}()
				heal := network.Isolate()
				require.ErrorIs(t, w.endOf(t, lease), framework.ErrSessionLost)
				lost := time.Now()
				heal()
				w.await(t, second)
				require.InDelta(t, row.after, time.Since(lost), float64(moment))
				w.closeAll(t, "/l", first, second)
				<-led
			})
		})
	}
}

// A leader that was interrupted under the standard policy has the margin to
// stop, too. The latch leads again with the same node after that. So it may pass
// the node on at once.
//
// Promise: An interrupted leader leads again only after its work has stopped or the safety margin is over.
func TestInterruptedLeaderHasItsMarginToStop(t *testing.T) {
	for name, row := range waysToStop(600*time.Millisecond, 900*time.Millisecond) {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				first, second, lease, network := w.leaderAndNext(t, "/l", framework.WithErrorPolicy(state.StandardPolicy))
				led := make(chan struct{})
				go func() {
					defer close(led)
					row.lead(t, first, lease)
				}()
				synctest.Wait() // it works
				network.Cut()
				require.ErrorIs(t, w.endOf(t, lease), framework.ErrSuspended)
				interrupted := time.Now()
				if again, err := first.WaitLeadership(w.Patience(t)); err == nil {
					require.Equal(t, lease.Path(), again.Path())
					require.InDelta(t, row.after, time.Since(interrupted), float64(moment))
					require.Nil(t, second.Leadership())
					require.NoError(t, again.Release(t.Context()))
				}
				w.await(t, second)
				require.InDelta(t, row.after, time.Since(interrupted), float64(moment))
				w.closeAll(t, "/l", first, second)
				<-led
			})
		})
	}
}

// Under the standard policy, the end of the connection ends the leadership, and
// the session is lost a moment later. The node, with which the latch would have
// led again, is not deleted before the leader has stopped.
//
// Promise: The node of an interrupted leader is not deleted before its safety margin is over.
func TestInterruptedLeaderThatLosesItsSessionHasItsMarginToStop(t *testing.T) {
	const part, soon = 0.4, 100 * time.Millisecond
	for name, row := range waysToStop(2*time.Second, 3600*time.Millisecond) {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				margin := time.Duration(part * float64(w.Session))
				first, second, lease, network := w.leaderAndNext(t, "/l",
					framework.WithErrorPolicy(state.StandardPolicy), framework.WithSafetyMargin(part))
				led := make(chan struct{})
				go func() {
					defer close(led)
					row.lead(t, first, lease)
				}()

				heal := network.Isolate()
				time.Sleep(w.Session - margin - soon)
				network.Refuse(true)
				heal() // breaks the connection
				require.ErrorIs(t, w.endOf(t, lease), framework.ErrSuspended)
				stops := time.Now()
				time.Sleep(soon) // the session is lost
				network.Refuse(false)
				w.await(t, second)
				require.InDelta(t, row.after, time.Since(stops), float64(moment))
				w.closeAll(t, "/l", first, second)
				<-led
			})
		})
	}
}

// A leader that was asked to finish, and is interrupted under the standard
// policy, does not lead again. It has the margin to stop.
func TestLeaderInterruptedDuringItsHandOverHasItsMarginToStop(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		first, second, lease, network := w.leaderAndNext(t, "/l", framework.WithErrorPolicy(state.StandardPolicy))
		handed := make(chan error)
		go func() { handed <- first.HandOver(recipetest.Within(t, time.Minute)) }()
		synctest.Wait()
		network.Cut()
		require.ErrorIs(t, w.endOf(t, lease), framework.ErrSuspended)
		interrupted := time.Now()
		w.await(t, second)
		require.InDelta(t, w.Session/10, time.Since(interrupted), float64(moment))
		require.NoError(t, <-handed)
		w.closeAll(t, "/l", first, second)
	})
}

// A latch that stands alone waits for its own node of the session before. That
// takes no longer than the margin, and no time at all after a long outage, even
// though the servers still have the node.
func TestLatchLeadsAgainWhenItsMarginIsOver(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, network := w.Connect(t)
		l := latch(t, c, "/l")
		lease := w.await(t, l)
		heal := network.Isolate()
		require.ErrorIs(t, w.endOf(t, lease), framework.ErrSessionLost)
		lost := time.Now()
		heal()
		again := w.await(t, l)
		require.InDelta(t, w.Session/10, time.Since(lost), float64(moment))
		require.Greater(t, again.FencingToken(), lease.FencingToken())

		w.Stop()
		require.ErrorIs(t, w.endOf(t, again), framework.ErrSessionLost)
		time.Sleep(time.Hour)
		w.Start()
		require.Contains(t, w.Fake.Children("/l"), path.Base(again.Path()))
		require.NoError(t, c.WaitConnected(t.Context()))
		back := time.Now()
		w.await(t, l)
		require.InDelta(t, 0, time.Since(back), float64(moment))
		w.closeAll(t, "/l", l)
	})
}

// The latch is shut down while a leader that was asked to finish, and was
// interrupted, still stops. Its session lives. So Shutdown waits for the
// deletion of its node, and returns the server's refusal.
//
// Promise: Shutdown deletes the node of a leader that is still stopping, and reports a refusal.
func TestShutdownDeletesTheNodeOfALeaderThatIsStopping(t *testing.T) {
	const slow = 100 * time.Millisecond
	for name, row := range map[string]struct {
		fault zktest.Action
		want  error
		after time.Duration
	}{
		"slow":    {fault: zktest.DelayRequest(slow), after: slow},
		"refused": {fault: zktest.Fail(zktest.ErrNoAuth), want: zk.ErrNoAuth},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, network := w.Connect(t, framework.WithErrorPolicy(state.StandardPolicy))
				first := latch(t, c, "/l")
				lease := w.await(t, first)
				second := latch(t, w.Observer, "/l")
				w.WaitNodes(t, "/l", 2)
				go first.HandOver(recipetest.Within(t, time.Minute))
				synctest.Wait()
				network.Cut()
				require.ErrorIs(t, w.endOf(t, lease), framework.ErrSuspended)
				require.NoError(t, c.WaitConnected(t.Context()))
				w.Fake.Inject(zktest.Rule{Op: zktest.OpDelete, Path: lease.Path(), Do: row.fault})
				start := time.Now()
				require.ErrorIs(t, first.Shutdown(t.Context()), row.want)
				require.InDelta(t, row.after, time.Since(start), float64(moment))
				if row.want == nil {
					require.Len(t, w.Fake.Children("/l"), 1)
					w.await(t, second)
				}
			})
		})
	}
}
