package leader_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/locktrace"
	"github.com/gocurator/curator/testing/zktest"
)

// A tracer receives a hand-over like every other request to give the leadership up, and
// receives several requests as one.
func TestTracerReceivesAHandOver(t *testing.T) {
	for _, revoked := range []bool{false, true} {
		inVirtualTime(t, func(t *testing.T, w *world) {
			tracer := &locktest.Spy{}
			first, second, lease, _ := w.leaderAndNext(t, "/l", framework.WithHooks(tracer))
			if revoked {
				require.NoError(t, locks.Revoke(t.Context(), w.Observer, lease.Path()))
			}
			go releaseWhenAsked(lease)
			if err := first.HandOver(t.Context()); err != nil {
				require.ErrorIs(t, err, leader.ErrNotLeader, "it has stepped down already")
			}
			w.await(t, second)
			synctest.Wait()
			require.EqualValues(t, 1, tracer.Revoked.Load())
			w.closeAll(t, "/l", first, second)
		})
	}
}

// endingTracer can end the context of the work.
type endingTracer struct {
	locktest.Spy
	end context.CancelFunc
}

func (e *endingTracer) StartAcquire(ctx context.Context, _ locktrace.Acquire) (context.Context, locktrace.AcquireTracer) {
	return ctx, endingAcquire{e.Told, e}
}

type endingAcquire struct {
	locktest.Calls
	of *endingTracer
}

func (a endingAcquire) StartHold(locktrace.Hold) locktrace.HoldTracer {
	return endingHold{locktest.CallsOfHold(a.Calls), a.of}
}

type endingHold struct {
	locktest.CallsOfHold
	of *endingTracer
}

func (h endingHold) Context(work context.Context) context.Context {
	work, h.of.end = context.WithCancel(work)
	return work
}

// A tracer ends the context of a leader's work, and the lease is released. Shutdown
// returns nil when a server has said that the node is gone, and not before.
func TestShutdownWaitsForTheNodeOfALeaderWhoseTracerEndsItsWork(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		tracer := &endingTracer{}
		c, _ := w.Connect(t, framework.WithHooks(tracer))
		l := latch(t, c, "/l")
		lease := w.await(t, l)
		w.Fake.Inject(zktest.Rule{Op: zktest.OpDelete, Path: lease.Path(), Do: zktest.DelayRequest(time.Second)})
		tracer.end()
		require.ErrorIs(t, lease.Release(t.Context()), context.Canceled)
		require.NoError(t, l.Shutdown(t.Context()))
		require.Empty(t, w.Fake.Children("/l"))
	})
}
