package leader_test

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/locktrace"
)

// A tracer is told of a hand-over as of every other request to give the
// leadership up. It is told once of several requests.
func TestTracerIsToldOfAHandOver(t *testing.T) {
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
			require.EqualValues(t, 1, tracer.Revoked.Load())
			w.closeAll(t, "/l", first, second)
		})
	}
}

// slowTracer takes longer for one of its answers than a latch waits for it.
type slowTracer struct {
	acquire, hold time.Duration
}

type ofSlowTracer struct{}

func (s slowTracer) StartAcquire(ctx context.Context, _ locktrace.Acquire) (context.Context, locktrace.AcquireTracer) {
	time.Sleep(s.acquire)
	return context.WithValue(ctx, ofSlowTracer{}, true), slowAcquire{s: s}
}

type slowAcquire struct {
	locktest.SpyOnAcquire
	s slowTracer
}

func (a slowAcquire) StartHold(locktrace.Hold) locktrace.HoldTracer { return slowHold{s: a.s} }

type slowHold struct {
	locktest.ValveOnHold
	s slowTracer
}

func (h slowHold) Context(ctx context.Context) context.Context {
	time.Sleep(h.s.hold)
	return context.WithValue(ctx, ofSlowTracer{}, true)
}

func (slowHold) Ended(locktrace.HoldEnd) {}

// What a tracer answers when the latch does not wait for it any more is not
// used. The race detector notices if it is.
func TestLateAnswersOfATracerAreNotUsed(t *testing.T) {
	const late = 1100 * time.Millisecond
	for name, tracer := range map[string]slowTracer{"acquire": {acquire: late}, "hold": {hold: late}} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, _ := w.Connect(t, framework.WithHooks(tracer))
				l, err := leader.NewLatch(c, "/l")
				require.NoError(t, err)
				lease, err := l.WaitLeadership(t.Context())
				require.NoError(t, err)
				time.Sleep(3 * time.Second)
				require.Nil(t, lease.Context().Value(ofSlowTracer{}))
				require.NoError(t, l.Shutdown(t.Context()))
			})
		})
	}
}

// exiting is a tracer that ends the goroutine that tells it of a hold.
type exiting struct{ locktest.Spy }

func (e *exiting) StartAcquire(ctx context.Context, _ locktrace.Acquire) (context.Context, locktrace.AcquireTracer) {
	return ctx, exitingOnAcquire{locktest.SpyOnAcquire{Spy: &e.Spy}}
}

type exitingOnAcquire struct{ locktest.SpyOnAcquire }

func (exitingOnAcquire) StartHold(locktrace.Hold) locktrace.HoldTracer {
	runtime.Goexit()
	return nil
}

// A tracer ends the goroutine that tells it of the beginning of a leadership. The
// leadership goes on. The tracer that was told before is told of an end once.
func TestTracerThatEndsTheGoroutineOfAnotherOne(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		var ended atomic.Int32
		first := &locktest.Spy{Ended: func(locktrace.HoldEnd) { ended.Add(1) }}
		c, _ := w.Connect(t, framework.WithHooks(first, &exiting{}))
		l, err := leader.NewLatch(c, "/l")
		require.NoError(t, err)
		_, err = l.WaitLeadership(t.Context())
		require.NoError(t, err)
		require.NoError(t, l.Shutdown(t.Context()))
		synctest.Wait()
		require.EqualValues(t, 1, ended.Load())
	})
}

// workEnder is a tracer that ends the contexts of the work, on demand.
type workEnder struct {
	locktest.Spy
	ends chan context.CancelCauseFunc
}

func (e *workEnder) StartAcquire(ctx context.Context, _ locktrace.Acquire) (context.Context, locktrace.AcquireTracer) {
	return ctx, workEnderOnAcquire{locktest.SpyOnAcquire{Spy: &e.Spy}, e}
}

type workEnderOnAcquire struct {
	locktest.SpyOnAcquire
	of *workEnder
}

func (a workEnderOnAcquire) StartHold(h locktrace.Hold) locktrace.HoldTracer {
	return workEnderOnHold{a.SpyOnAcquire.StartHold(h), a.of}
}

type workEnderOnHold struct {
	locktrace.HoldTracer
	of *workEnder
}

func (h workEnderOnHold) Context(ctx context.Context) context.Context {
	ctx, end := context.WithCancelCause(ctx)
	h.of.ends <- end
	return ctx
}

// A tracer ends the context of a leader's work, with any cause. That is no loss
// of the leadership, whatever the cause says. The latch steps down, and stands
// again.
func TestTracerThatEndsTheWorkIsNoLoss(t *testing.T) {
	for _, cause := range []error{
		context.Canceled, framework.ErrSuspended, framework.ErrSessionLost, locks.ErrReleased, locks.ErrRevoked,
	} {
		for _, leads := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v, Lead=%t", cause, leads), func(t *testing.T) {
				inVirtualTime(t, func(t *testing.T, w *world) {
					tracer := &workEnder{ends: make(chan context.CancelCauseFunc, 9)}
					first, second, _, _ := w.leaderAndNext(t, "/l", framework.WithHooks(tracer))
					led := make(chan error, 1)
					led <- leader.ErrClosed
					if leads {
						<-led
						go func() {
							led <- first.Lead(t.Context(), func(ctx context.Context) error {
								<-ctx.Done()
								return nil
							})
						}()
						synctest.Wait()
					}
					(<-tracer.ends)(cause)
					synctest.Wait()
					require.NotNil(t, second.Leadership(), "it leads at once")
					w.WaitNodes(t, "/l", 2)
					require.NoError(t, second.Shutdown(t.Context()))
					w.await(t, first)
					w.closeAll(t, "/l", first)
					require.ErrorIs(t, <-led, leader.ErrClosed)
				})
			})
		}
	}
}
