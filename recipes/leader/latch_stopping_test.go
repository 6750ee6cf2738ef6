package leader_test

import (
	"context"
	"path"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/recipetest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/state"
)

// moment is less than what these tests tell apart, and more than a request
// takes.
const moment = 10 * time.Millisecond

// A leader that has lost its session has the safety margin to stop, also if the
// network is back at that moment, and the latch with it. The next one leads
// when somebody says that the work has stopped, or when the margin is over.
func TestLeaderThatLosesItsSessionHasItsMarginToStop(t *testing.T) {
	const margin, stopping = 900 * time.Millisecond, 600 * time.Millisecond
	stop := func(lease *locks.Lease) {
		<-lease.Context().Done()
		time.Sleep(stopping)
	}
	for name, row := range map[string]struct {
		lead  func(t *testing.T, l *leader.Latch, lease *locks.Lease)
		after time.Duration // the loss, the next one leads
	}{
		"nobody says that the work has stopped": {
			func(_ *testing.T, _ *leader.Latch, lease *locks.Lease) { stop(lease) }, margin,
		},
		"Lead's work returns": {func(t *testing.T, l *leader.Latch, lease *locks.Lease) {
			require.ErrorIs(t, l.Lead(t.Context(), func(ctx context.Context) error {
				stop(lease)
				return nil
			}), leader.ErrClosed)
		}, stopping},
		"Lead's work takes too long": {func(t *testing.T, l *leader.Latch, lease *locks.Lease) {
			require.ErrorIs(t, l.Lead(t.Context(), func(ctx context.Context) error {
				stop(lease)
				time.Sleep(margin)
				return nil
			}), leader.ErrClosed)
		}, margin},
		"the lease is released": {func(t *testing.T, _ *leader.Latch, lease *locks.Lease) {
			stop(lease)
			require.ErrorIs(t, lease.Release(t.Context()), framework.ErrSessionLost)
		}, stopping},
		"the latch is closed": {func(t *testing.T, l *leader.Latch, lease *locks.Lease) {
			stop(lease)
			require.NoError(t, l.Close(t.Context()))
		}, stopping},
	} {
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

// Under the standard policy, the end of the connection ends the leadership, and
// the session is lost a moment later. The node, with which the latch would have
// led again, is not deleted before the margin is over.
func TestInterruptedLeaderThatLosesItsSessionHasItsMarginToStop(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		const part, soon = 0.4, 100 * time.Millisecond
		margin := time.Duration(part * float64(w.Session))
		c, network := w.Connect(t, framework.WithErrorPolicy(state.StandardPolicy), framework.WithSafetyMargin(part))
		first := latch(t, c, "/l")
		lease := w.await(t, first)
		second := latch(t, w.Observer, "/l")
		w.WaitNodes(t, "/l", 2)
		session, err := c.Session(t.Context())
		require.NoError(t, err)

		heal := network.Isolate()
		time.Sleep(w.Session - margin - soon)
		network.Refuse(true)
		heal() // breaks the connection
		require.ErrorIs(t, w.endOf(t, lease), framework.ErrSuspended)
		stops := time.Now()
		<-session.Context().Done()
		require.InDelta(t, soon, time.Since(stops), float64(moment))
		network.Refuse(false)
		w.await(t, second)
		require.InDelta(t, margin, time.Since(stops), float64(moment))
		w.closeAll(t, "/l", first, second)
	})
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
