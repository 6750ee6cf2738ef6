package recipes_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes"
	"github.com/gocurator/curator/testing/zktest"
)

// valve is a tracer all of whose methods block while it is shut. It counts the
// ends that it was told of.
type valve struct {
	shut             atomic.Pointer[chan struct{}]
	ended, overruns  atomic.Int32
	operations, open atomic.Int32
}

func (v *valve) pass() {
	if shut := v.shut.Load(); shut != nil {
		<-*shut
	}
}

// close returns what opens the valve again.
func (v *valve) close() (open func()) {
	shut := make(chan struct{})
	v.shut.Store(&shut)
	return sync.OnceFunc(func() {
		v.shut.Store(nil)
		close(shut)
	})
}

func (v *valve) ClientOpened(*framework.Client)                       {}
func (v *valve) ClientClosed(*framework.Client)                       { v.pass() }
func (v *valve) StateChanged(framework.StateChange)                   { v.pass() }
func (v *valve) EndOperation(context.Context, framework.OperationEnd) { v.pass(); v.operations.Add(1) }

func (v *valve) StartOperation(ctx context.Context, _ framework.Operation) context.Context {
	v.pass()
	return ctx
}

func (v *valve) StartAcquire(ctx context.Context, _ recipes.Acquire) (context.Context, recipes.AcquireTracer) {
	v.pass()
	v.open.Add(1)
	return ctx, valveOnAcquire{v}
}

type valveOnAcquire struct{ *valve }

func (v valveOnAcquire) Trace() map[string]string { v.pass(); return nil }
func (v valveOnAcquire) QueuedLocally(int)        { v.pass() }
func (v valveOnAcquire) Queued(recipes.Queued)    { v.pass() }
func (v valveOnAcquire) Waiting(recipes.Waiting)  { v.pass() }
func (v valveOnAcquire) Woken(bool)               { v.pass() }
func (v valveOnAcquire) Abandoned(error)          { v.pass() }
func (v valveOnAcquire) Ended(recipes.AcquireEnd) { v.pass() }

func (v valveOnAcquire) StartHold(recipes.Hold) recipes.HoldTracer {
	v.pass()
	return valveOnHold(v)
}

type valveOnHold struct{ *valve }

func (v valveOnHold) Context(ctx context.Context) context.Context { v.pass(); return ctx }
func (v valveOnHold) Reentered()                                  { v.pass() }
func (v valveOnHold) Revoked()                                    { v.pass() }
func (v valveOnHold) Ended(recipes.HoldEnd)                       { v.pass(); v.ended.Add(1) }
func (v valveOnHold) Overrun() func()                             { v.pass(); v.overruns.Add(1); return v.pass }

func duration(f func()) time.Duration {
	begin := time.Now()
	f()
	return time.Since(begin)
}

func TestTracerThatBlocksHoldsUpAReleaseForASecondAtMost(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		tracer := &valve{}
		c, _ := w.connect(t, framework.WithTracer(tracer))
		one := acquire(t, t.Context(), recipes.NewInterProcessMutex(c, "/one"))
		two := acquire(t, t.Context(), recipes.NewInterProcessMutex(c, "/two"))
		open := tracer.close()
		defer open()
		require.Equal(t, time.Second, duration(func() { require.NoError(t, one.Release(t.Context())) }))
		require.Zero(t, duration(func() { require.NoError(t, two.Release(t.Context())) }), "nobody waits for a tracer that is overdue")
		w.waitNodes(t, "/one", 0)
		w.waitNodes(t, "/two", 0)
		open()
		synctest.Wait()
		require.EqualValues(t, 2, tracer.ended.Load(), "late, but told")

		three := acquire(t, t.Context(), recipes.NewInterProcessMutex(c, "/three"))
		before := tracer.operations.Load()
		require.NoError(t, three.Release(t.Context()))
		require.EqualValues(t, 3, tracer.ended.Load(), "in time again")
		require.Equal(t, before+1, tracer.operations.Load())
	})
}

func TestTracerThatBlocksDoesNotOutlastTheContextOfARelease(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		tracer := &valve{}
		c, _ := w.connect(t, framework.WithTracer(tracer))
		held := acquire(t, t.Context(), recipes.NewInterProcessMutex(c, "/held"))
		lost := acquire(t, t.Context(), recipes.NewInterProcessMutex(c, "/lost"))
		require.NoError(t, w.observer.Delete(t.Context(), lost.Path(), framework.AnyVersion))
		time.Sleep(2 * time.Second) // until its holder looks
		require.ErrorIs(t, context.Cause(lost.Context()), recipes.ErrNodeDeleted)
		open := tracer.close()
		defer open()
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		require.LessOrEqual(t, duration(func() { held.Release(ctx) }), 400*time.Millisecond)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		require.LessOrEqual(t, duration(func() { require.ErrorIs(t, lost.Release(ended), recipes.ErrNodeDeleted) }), 100*time.Millisecond)
		open()
		w.waitNodes(t, "/held", 0)
	})
}

// It waits for a moment, also on a context that has ended.
func TestReleaseOnAnEndedContextHasToldTheTracer(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		tracer := &valve{}
		c, _ := w.connect(t, framework.WithTracer(tracer))
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for i := range 100 {
			lease := acquire(t, t.Context(), recipes.NewInterProcessMutex(c, "/lock"))
			lease.Release(ended)
			require.EqualValues(t, i+1, tracer.ended.Load())
		}
	})
}

func TestLogHandlerThatBlocksHoldsUpNoReleaseOfALostLease(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		shut := make(chan struct{})
		defer close(shut)
		c, _ := w.connect(t, framework.WithLogger(slog.New(blockingHandler{slog.DiscardHandler, shut})))
		m := recipes.NewInterProcessMutex(c, "/lock")
		lease := acquire(t, t.Context(), m)
		w.fake.ExpireSession(c.SessionID())
		<-lease.Context().Done()
		require.Zero(t, duration(func() { require.ErrorIs(t, lease.Release(t.Context()), framework.ErrSessionLost) }))
		lease = acquire(t, t.Context(), m)
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

// A latch's goroutine is the client's. Wherever a tracer stops it, Close
// returns.
func TestTracerThatBlocksALatchHoldsUpCloseForASecondAtMost(t *testing.T) {
	for _, leads := range []bool{false, true} {
		inVirtualTime(t, func(t *testing.T, w *world) {
			tracer := &valve{}
			c, _ := w.connect(t, framework.WithTracer(tracer))
			latch := recipes.NewLeaderLatch(c, "/leader")
			if leads {
				require.NoError(t, latch.Start())
				_, err := latch.Await(t.Context())
				require.NoError(t, err)
			}
			open := tracer.close()
			defer open()
			if !leads {
				require.NoError(t, latch.Start())
				lease, err := latch.Await(t.Context())
				require.NoError(t, err, "it leads untraced")
				require.NoError(t, lease.Context().Err())
			}
			require.LessOrEqual(t, duration(func() { c.Close() }), 1100*time.Millisecond)
			open()
			synctest.Wait()
			require.LessOrEqual(t, tracer.ended.Load(), tracer.open.Load())
		})
	}
}

func TestTracerThatBlocksHoldsUpASelectorForASecondAtMost(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		tracer := &valve{}
		c, _ := w.connect(t, framework.WithTracer(tracer))
		selector := recipes.NewLeaderSelector(c, "/leader", recipes.WithOverrunReport(time.Second))
		ctx, cancel := context.WithCancel(t.Context())
		var open func()
		err := selector.Run(ctx, func(ctx context.Context) error {
			open = tracer.close()
			cancel()
			time.Sleep(10 * time.Second)
			return nil
		})
		defer open()
		require.NoError(t, err)
		require.Zero(t, tracer.overruns.Load())
		open()
		synctest.Wait()
		require.EqualValues(t, 1, tracer.overruns.Load())
		require.EqualValues(t, 1, tracer.ended.Load())
		w.waitNodes(t, "/leader", 0)
	})
}

// After Close, everything has been told and written: here in real time, as the
// scheduler decides, and the tracer and the buffer have no lock, so that the
// race detector sees whoever comes late.
func TestCloseHasToldTheEndOfEveryHold(t *testing.T) {
	const holds = 30
	for range 20 {
		srv := zktest.New(t)
		tracer := &valve{}
		var log strings.Builder
		c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()), framework.WithTracer(tracer),
			framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		require.NoError(t, err)
		for i := range holds {
			acquire(t, t.Context(), recipes.NewInterProcessMutex(c, fmt.Sprintf("/lock-%d", i)))
		}
		require.NoError(t, c.Close())
		require.EqualValues(t, holds, tracer.ended.Load())
		require.Equal(t, holds, strings.Count(log.String(), `msg="lock lost"`))
	}
}

type lossKey struct{}

// carrier is a handler that notes what the contexts of its lines carry.
type carrier struct {
	slog.Handler
	carried *[]string
}

func (c carrier) Handle(ctx context.Context, line slog.Record) error {
	carried, _ := ctx.Value(lossKey{}).(string)
	*c.carried = append(*c.carried, line.Message+": "+carried)
	return nil
}

// By its context a handler finds the span of the work that has lost its lock.
func TestLossIsLoggedWithTheContextOfTheWork(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		var carried []string
		c, _ := w.connect(t, framework.WithTracer(&marking{}), framework.WithLogger(
			slog.New(carrier{slog.NewTextHandler(nil, nil), &carried})))
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), lossKey{}, "the caller's"))
		lease := acquire(t, ctx, recipes.NewInterProcessMutex(c, "/lock"))
		cancel()
		w.fake.ExpireSession(c.SessionID())
		<-lease.Context().Done()
		require.NoError(t, c.Close())
		require.Contains(t, carried, "lock lost: the caller's, in the hold")
	})
}

// marking is a tracer that marks the contexts of holds.
type marking struct{ valve }

func (m *marking) StartAcquire(ctx context.Context, _ recipes.Acquire) (context.Context, recipes.AcquireTracer) {
	return ctx, markingAcquire{valveOnAcquire{&m.valve}}
}

type markingAcquire struct{ valveOnAcquire }

func (m markingAcquire) StartHold(recipes.Hold) recipes.HoldTracer {
	return markingHold{valveOnHold(m.valveOnAcquire)}
}

type markingHold struct{ valveOnHold }

func (markingHold) Context(ctx context.Context) context.Context {
	mark, _ := ctx.Value(lossKey{}).(string)
	return context.WithValue(ctx, lossKey{}, mark+", in the hold")
}

// Values of attributes are words, for those who search for them.
func TestRecipesAreNamedByWords(t *testing.T) {
	for _, recipe := range []string{
		recipes.RecipeMutex, recipes.RecipeReadWriteLock, recipes.RecipeSemaphore, recipes.RecipeSemaphoreMutex,
		recipes.RecipeMultiLock, recipes.RecipeLeaderLatch, recipes.RecipeLeaderSelector,
	} {
		require.Regexp(t, `^[a-z]+(_[a-z]+)*$`, recipe)
	}
}

// slowTracer takes its time at the end of the operations on one path.
type slowTracer struct {
	valve
	path string
}

func (s *slowTracer) EndOperation(_ context.Context, end framework.OperationEnd) {
	if end.Path == s.path {
		time.Sleep(time.Minute)
		s.operations.Add(1)
	}
}

// The Teller of a latch is for its own operations. Those that its leader calls
// are told by whoever calls them, as everywhere.
func TestOperationsUnderALeadershipAreToldDirectly(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		tracer := &slowTracer{path: "/anything"}
		c, _ := w.connect(t, framework.WithTracer(tracer))
		latch := latch(t, c, "/leader")
		lease := w.await(t, latch)
		for name, ctx := range map[string]context.Context{"lease": lease.Context(), "under": under(t, lease)} {
			before := tracer.operations.Load()
			require.Equal(t, time.Minute, duration(func() {
				_, _, err := c.Exists(ctx, tracer.path)
				require.NoError(t, err)
			}), name)
			require.Equal(t, before+1, tracer.operations.Load(), name)
		}
		require.NoError(t, latch.Close(t.Context()))
	})
}

func under(t *testing.T, lease *recipes.Lease) context.Context {
	ctx, done := lease.Under(t.Context())
	t.Cleanup(done)
	return ctx
}
