package framework_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/testing/zktest"
)

// stuckTracer is a hook whose methods block while it is shut.
type stuckTracer struct {
	shut                             atomic.Pointer[chan struct{}]
	started, ended, changes, closing atomic.Int32
}

func (s *stuckTracer) block(n *atomic.Int32) {
	if shut := s.shut.Load(); shut != nil {
		<-*shut
	}
	n.Add(1)
}

func (s *stuckTracer) StartOperation(ctx context.Context, _ clienttrace.Operation) context.Context {
	s.block(&s.started)
	return context.WithValue(ctx, operationKey{}, s)
}

func (s *stuckTracer) EndOperation(ctx context.Context, _ clienttrace.OperationEnd) {
	if ctx.Value(operationKey{}) != s {
		panic("not the context of StartOperation")
	}
	s.block(&s.ended)
}

func (s *stuckTracer) StateChanged(clienttrace.StateChange) { s.block(&s.changes) }
func (s *stuckTracer) ClientClosed(c clienttrace.Client)    { s.block(&s.closing) }

// close returns what opens it again.
func (s *stuckTracer) close() (open func()) {
	shut := make(chan struct{})
	s.shut.Store(&shut)
	return sync.OnceFunc(func() {
		s.shut.Store(nil)
		close(shut)
	})
}

func took(f func()) time.Duration { begin := time.Now(); f(); return time.Since(begin) }

// get is an operation for which a Teller tells the hook.
func get(c *framework.Client, ctx context.Context) error {
	teller := framework.Extend(c).NewTeller()
	_, _, err := c.Get(teller.Context(ctx), "/")
	teller.Wait(ctx)
	return err
}

func TestTracerThatBlocksHoldsUpAnOperationForASecondAtMost(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		tracer := &stuckTracer{}
		c := unclosed(t, srv, framework.WithHooks(tracer))
		require.NoError(t, get(c, t.Context()))
		open := tracer.close()
		defer open()
		require.Equal(t, time.Second, took(func() { require.NoError(t, get(c, t.Context())) }))
		require.Zero(t, took(func() { require.NoError(t, get(c, t.Context())) }), "nobody waits for others meanwhile")
		open()
		synctest.Wait()
		require.EqualValues(t, 3, tracer.started.Load())
		require.EqualValues(t, 3, tracer.ended.Load(), "late, but told")
		require.NoError(t, get(c, t.Context()))
		require.EqualValues(t, 4, tracer.ended.Load(), "told in time again")
		require.NoError(t, c.Close())
		require.EqualValues(t, 1, tracer.closing.Load())
	})
}

// A context that has ended leaves time for a tracer that does not block, and no
// more.
func TestTracerThatBlocksHoldsUpACancelledOperationForATenthOfASecond(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		tracer := &stuckTracer{}
		c := unclosed(t, srv, framework.WithHooks(tracer))
		require.NoError(t, c.WaitConnected(t.Context()))
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		srv.Inject(zktest.Rule{Op: zktest.OpGetData, Do: zktest.DelayReply(time.Minute)})
		require.Equal(t, 300*time.Millisecond, took(func() { require.ErrorIs(t, get(c, ctx), context.DeadlineExceeded) }))
		require.EqualValues(t, 1, tracer.ended.Load())

		ctx, cancel = context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		open := tracer.close()
		defer open()
		require.Equal(t, 400*time.Millisecond, took(func() { require.ErrorIs(t, get(c, ctx), context.DeadlineExceeded) }))
		open()
		require.NoError(t, c.Close())
	})
}

func TestTracerThatBlocksHoldsUpCloseForASecondAtMost(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		tracer := &stuckTracer{}
		open := tracer.close()
		defer open()
		c := unclosed(t, srv, framework.WithHooks(tracer))
		require.NoError(t, c.WaitConnected(t.Context()))
		srv.CutAll()
		time.Sleep(time.Minute)
		done := make(chan error)
		go func() { done <- get(c, context.Background()) }()
		require.LessOrEqual(t, took(func() { require.NoError(t, c.Close()) }), 1100*time.Millisecond)
		srv.AssertNoSessions(t)
		<-done
		open()
		synctest.Wait()
		require.EqualValues(t, 1, tracer.changes.Load(), "of the three: none is told behind Close")
	})
}

// A call that never returns must not cost a goroutine for each that follows,
// for ever.
func TestTracerThatNeverReturnsCostsNoGoroutinesWithoutEnd(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		tracer := &stuckTracer{}
		c := unclosed(t, srv, framework.WithHooks(tracer))
		require.NoError(t, c.WaitConnected(t.Context()))
		synctest.Wait()
		open := tracer.close()
		defer open()
		const limit = 1 << 14
		var refused int
		require.False(t, framework.Extend(c).NewTeller().Tell(t.Context(), func() { tracer.block(&tracer.ended) }))
		for range limit + 10 {
			if !framework.Extend(c).NewTeller().Post(func() { tracer.block(&tracer.ended) }) {
				refused++
			}
		}
		require.Equal(t, 11, refused)
		require.NoError(t, get(c, t.Context()), "which is not traced")
		open()
		synctest.Wait()
		require.EqualValues(t, limit, tracer.ended.Load())
		require.Zero(t, tracer.started.Load())
		require.NoError(t, get(c, t.Context()))
		require.EqualValues(t, 1, tracer.started.Load())
		require.NoError(t, c.Close())
	})
}

func TestTellerCallsInTurn(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c := unclosed(t, srv)
		teller := framework.Extend(c).NewTeller()
		require.True(t, teller.Wait(t.Context()), "nothing to wait for")
		var calls []int
		for i := range 100 {
			require.True(t, teller.Post(func() { time.Sleep(time.Millisecond); calls = append(calls, i) }))
		}
		require.True(t, teller.Wait(t.Context()))
		for i, call := range calls {
			require.Equal(t, i, call)
		}
		require.Len(t, calls, 100)
		require.NoError(t, c.Close())
	})
}

// A tracer in a test may end its goroutine, as t.FailNow does. The goroutine is
// the Teller's: what was posted behind that call, such as all later lines of a
// log, must be called all the same.
func TestCallThatEndsItsGoroutineDoesNotEndTheTeller(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c := unclosed(t, srv)
		teller := framework.Extend(c).NewTeller()
		var called int
		teller.Post(runtime.Goexit)
		teller.Post(func() { called++ })
		require.True(t, teller.Wait(t.Context()))
		require.Equal(t, 1, called)
		require.False(t, teller.Tell(t.Context(), runtime.Goexit), "it has not returned")
		require.True(t, teller.Tell(t.Context(), func() { called++ }))
		require.Equal(t, 2, called)
		require.Zero(t, took(func() { c.Close() }))
	})
}
