package locks_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/locktrace"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

func duration(f func()) time.Duration {
	begin := time.Now()
	f()
	return time.Since(begin)
}

func TestTracerThatBlocksHoldsUpAReleaseForASecondAtMost(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		tracer := &locktest.Valve{}
		c, _ := w.Connect(t, framework.WithHooks(tracer))
		one := locktest.Acquire(t, t.Context(), locks.NewInterProcessMutex(c, "/one"))
		two := locktest.Acquire(t, t.Context(), locks.NewInterProcessMutex(c, "/two"))
		open := tracer.Close()
		defer open()
		require.Equal(t, time.Second, duration(func() { require.NoError(t, one.Release(t.Context())) }))
		require.Zero(t, duration(func() { require.NoError(t, two.Release(t.Context())) }), "nobody waits for a tracer that is overdue")
		w.WaitNodes(t, "/one", 0)
		w.WaitNodes(t, "/two", 0)
		open()
		synctest.Wait()
		require.EqualValues(t, 2, tracer.Ended.Load(), "late, but told")

		three := locktest.Acquire(t, t.Context(), locks.NewInterProcessMutex(c, "/three"))
		before := tracer.Operations.Load()
		require.NoError(t, three.Release(t.Context()))
		require.EqualValues(t, 3, tracer.Ended.Load(), "in time again")
		require.Equal(t, before+1, tracer.Operations.Load())
	})
}

func TestTracerThatBlocksDoesNotOutlastTheContextOfARelease(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		tracer := &locktest.Valve{}
		c, _ := w.Connect(t, framework.WithHooks(tracer))
		held := locktest.Acquire(t, t.Context(), locks.NewInterProcessMutex(c, "/held"))
		lost := locktest.Acquire(t, t.Context(), locks.NewInterProcessMutex(c, "/lost"))
		require.NoError(t, w.Observer.Delete(t.Context(), lost.Path(), framework.AnyVersion))
		time.Sleep(2 * time.Second) // by now the lease's holder has looked at its node
		require.ErrorIs(t, context.Cause(lost.Context()), locks.ErrNodeDeleted)
		open := tracer.Close()
		defer open()
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		require.LessOrEqual(t, duration(func() { held.Release(ctx) }), 400*time.Millisecond)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		require.LessOrEqual(t, duration(func() { require.ErrorIs(t, lost.Release(ended), locks.ErrNodeDeleted) }), 100*time.Millisecond)
		open()
		w.WaitNodes(t, "/held", 0)
	})
}

// A release without a connection leaves the rest to the client. Its tracer has a
// moment then, as on a context that has ended.
func TestTracerThatBlocksDoesNotOutlastTheConnectionOfARelease(t *testing.T) {
	for name, tc := range map[string]struct {
		breaks time.Duration
		policy state.ErrorPolicy
		lost   error
	}{
		"before it":       {0, state.SessionPolicy, nil},
		"meanwhile":       {300 * time.Millisecond, state.SessionPolicy, nil},
		"before, is lost": {0, state.StandardPolicy, framework.ErrSuspended},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				tracer, breaks := &locktest.Valve{}, tc.breaks
				c, network := w.Connect(t, framework.WithHooks(tracer), framework.WithErrorPolicy(tc.policy))
				lease := locktest.Acquire(t, t.Context(), locks.NewInterProcessMutex(c, "/lock"))
				open := func() {}
				defer func() { open() }()
				begin := time.Now()
				cut := time.AfterFunc(breaks, func() {
					network.Refuse(true)
					network.Cut()
				})
				defer cut.Stop()
				if breaks == 0 {
					time.Sleep(time.Millisecond)
				}
				synctest.Wait()
				open = tracer.Close()
				require.ErrorIs(t, lease.Release(t.Context()), tc.lost)
				require.LessOrEqual(t, time.Since(begin)-breaks, 110*time.Millisecond)
				network.Refuse(false)
				open()
				w.WaitNodes(t, "/lock", 0)
			})
		})
	}
}

// Release waits for the tracer for a moment, even on a context that has ended.
func TestReleaseOnAnEndedContextHasToldTheTracer(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		tracer := &locktest.Valve{}
		c, _ := w.Connect(t, framework.WithHooks(tracer))
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for i := range 100 {
			lease := locktest.Acquire(t, t.Context(), locks.NewInterProcessMutex(c, "/lock"))
			lease.Release(ended)
			require.EqualValues(t, i+1, tracer.Ended.Load())
		}
	})
}

func TestLogHandlerThatBlocksHoldsUpNoReleaseOfALostLease(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		shut := make(chan struct{})
		defer close(shut)
		c, _ := w.Connect(t, framework.WithLogger(slog.New(blockingHandler{slog.DiscardHandler, shut})))
		m := locks.NewInterProcessMutex(c, "/lock")
		lease := locktest.Acquire(t, t.Context(), m)
		w.Fake.Session(c.SessionID()).Expire()
		<-lease.Context().Done()
		require.Zero(t, duration(func() { require.ErrorIs(t, lease.Release(t.Context()), framework.ErrSessionLost) }))
		lease = locktest.Acquire(t, t.Context(), m)
		require.NoError(t, lease.Release(t.Context()))
		require.Equal(t, time.Second, duration(func() { c.Close() }))
	})
}

// blockingHandler blocks until the channel is closed.
type blockingHandler struct {
	slog.Handler
	until chan struct{}
}

func (h blockingHandler) Enabled(context.Context, slog.Level) bool  { return true }
func (h blockingHandler) Handle(context.Context, slog.Record) error { <-h.until; return nil }
func (h blockingHandler) WithAttrs([]slog.Attr) slog.Handler        { return h }

// A latch's goroutine belongs to the client. Close returns at whatever point a
// tracer blocks that goroutine.
func TestTracerThatBlocksALatchHoldsUpCloseForASecondAtMost(t *testing.T) {
	for _, leads := range []bool{false, true} {
		inVirtualTime(t, func(t *testing.T, w *world) {
			tracer := &locktest.Valve{}
			c, _ := w.Connect(t, framework.WithHooks(tracer))
			stand := func() *leader.Latch {
				latch, err := leader.NewLatch(c, "/leader")
				require.NoError(t, err)
				return latch
			}
			if leads {
				_, err := stand().WaitLeadership(t.Context())
				require.NoError(t, err)
			}
			open := tracer.Close()
			defer open()
			if !leads {
				lease, err := stand().WaitLeadership(t.Context())
				require.NoError(t, err, "it leads untraced")
				require.NoError(t, lease.Context().Err())
			}
			require.LessOrEqual(t, duration(func() { c.Close() }), 1100*time.Millisecond)
			open()
			synctest.Wait()
			require.LessOrEqual(t, tracer.Ended.Load(), tracer.Open.Load())
		})
	}
}

func TestTracerThatBlocksHoldsUpASelectorForASecondAtMost(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		tracer := &locktest.Valve{}
		c, _ := w.Connect(t, framework.WithHooks(tracer))
		selector := leader.NewSelector(c, "/leader", leader.WithOverrunReport(time.Second))
		ctx, cancel := context.WithCancel(t.Context())
		var open func()
		err := selector.Run(ctx, func(ctx context.Context) error {
			open = tracer.Close()
			cancel()
			time.Sleep(10 * time.Second)
			return nil
		})
		defer open()
		require.NoError(t, err)
		require.Zero(t, tracer.Overruns.Load())
		open()
		synctest.Wait()
		require.EqualValues(t, 1, tracer.Overruns.Load())
		require.EqualValues(t, 1, tracer.Ended.Load())
		w.WaitNodes(t, "/leader", 0)
	})
}

// When Close has returned, the tracer has been told of every end, and the log
// has every line. The scheduler decides in which order. In real time, Close
// would stop waiting after a second, which a busy machine may need. The tracer
// and the buffer have no lock, so that the race detector sees a late call.
func TestCloseHasToldTheEndOfEveryHold(t *testing.T) {
	const holds = 30
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			srv := zktest.Start(t)
			tracer := &locktest.Valve{}
			var log strings.Builder
			c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()), framework.WithHooks(tracer),
				framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
			require.NoError(t, err)
			for i := range holds {
				locktest.Acquire(t, t.Context(), locks.NewInterProcessMutex(c, fmt.Sprintf("/lock-%d", i)))
			}
			require.NoError(t, c.Close())
			require.EqualValues(t, holds, tracer.Ended.Load())
			require.Equal(t, holds, strings.Count(log.String(), `msg="lock lost"`))
		})
	}
}

type lossKey struct{}

// carrier is a log handler that notes the values in the contexts of its lines.
type carrier struct {
	slog.Handler
	carried *[]string
}

func (c carrier) Handle(ctx context.Context, line slog.Record) error {
	carried, _ := ctx.Value(lossKey{}).(string)
	*c.carried = append(*c.carried, line.Message+": "+carried)
	return nil
}

// A log handler can find the span of the work that has lost its lock by the
// context of the line.
func TestLossIsLoggedWithTheContextOfTheWork(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		var carried []string
		c, _ := w.Connect(t, framework.WithHooks(&marking{}), framework.WithLogger(
			slog.New(carrier{slog.NewTextHandler(nil, nil), &carried})))
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), lossKey{}, "the caller's"))
		lease := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(c, "/lock"))
		cancel()
		w.Fake.Session(c.SessionID()).Expire()
		<-lease.Context().Done()
		require.NoError(t, c.Close())
		require.Contains(t, carried, "lock lost: the caller's, in the hold")
	})
}

// marking is a tracer that marks the contexts of holds.
type marking struct{ locktest.Valve }

func (m *marking) StartAcquire(ctx context.Context, _ locktrace.Acquire) (context.Context, locktrace.AcquireTracer) {
	return ctx, markingAcquire{locktest.ValveOnAcquire{Valve: &m.Valve}}
}

type markingAcquire struct{ locktest.ValveOnAcquire }

func (m markingAcquire) StartHold(locktrace.Hold) locktrace.HoldTracer {
	return markingHold{locktest.ValveOnHold(m.ValveOnAcquire)}
}

type markingHold struct{ locktest.ValveOnHold }

func (markingHold) Context(ctx context.Context) context.Context {
	mark, _ := ctx.Value(lossKey{}).(string)
	return context.WithValue(ctx, lossKey{}, mark+", in the hold")
}

// The values of attributes are words, so that people can search for them.
func TestRecipesAreNamedByWords(t *testing.T) {
	for _, recipe := range []string{
		locktrace.RecipeMutex, locktrace.RecipeReadWriteLock, locktrace.RecipeSemaphore, locktrace.RecipeSemaphoreMutex,
		locktrace.RecipeMultiLock, locktrace.RecipeLeaderLatch, locktrace.RecipeLeaderSelector,
	} {
		require.Regexp(t, `^[a-z]+(_[a-z]+)*$`, recipe)
	}
}

// slowTracer takes a minute at the end of the operations on one path.
type slowTracer struct {
	locktest.Valve
	path string
}

func (s *slowTracer) EndOperation(_ context.Context, end clienttrace.OperationEnd) {
	if end.Path == s.path {
		time.Sleep(time.Minute)
		s.Operations.Add(1)
	}
}

// The Teller of a latch is for the latch's own operations. The goroutine that
// calls another operation under the leadership tells the tracer itself, as
// everywhere.
func TestOperationsUnderALeadershipAreToldDirectly(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		tracer := &slowTracer{path: "/anything"}
		c, _ := w.Connect(t, framework.WithHooks(tracer))
		latch, err := leader.NewLatch(c, "/leader")
		require.NoError(t, err)
		lease := awaited(t, w, latch)
		for name, ctx := range map[string]context.Context{"lease": lease.Context(), "under": under(t, lease)} {
			before := tracer.Operations.Load()
			require.Equal(t, time.Minute, duration(func() {
				_, _, err := c.Exists(ctx, tracer.path)
				require.NoError(t, err)
			}), name)
			require.Equal(t, before+1, tracer.Operations.Load(), name)
		}
		require.NoError(t, latch.Shutdown(t.Context()))
	})
}

func under(t *testing.T, lease *locks.Lease) context.Context {
	ctx, done := lease.WithContext(t.Context())
	t.Cleanup(done)
	return ctx
}
