package tracing_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
	"github.com/gocurator/curator/tracing"
)

// late is a Tracer that hears of states when they are long over, as it may.
type late struct{ *tracing.Tracer }

func (l late) StateChanged(change framework.StateChange) {
	time.Sleep(20 * time.Second)
	l.Tracer.StateChanged(change)
}

func TestSpansHearOfNothingThatWasBeforeThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, spans := zktest.New(t), tracetest.NewSpanRecorder()
		provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
		c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()),
			framework.WithTracer(late{tracing.New(tracing.WithTracerProvider(provider))}))
		require.NoError(t, err)
		defer c.Close()
		require.NoError(t, c.WaitConnected(t.Context()))
		time.Sleep(time.Minute)
		srv.ExpireSession(c.SessionID())
		time.Sleep(10 * time.Second)
		lease, err := recipes.NewInterProcessMutex(c, "/lock").Acquire(t.Context())
		require.NoError(t, err)
		time.Sleep(2 * time.Minute) // all of the loss has been told
		srv.CutSession(c.SessionID())
		time.Sleep(2 * time.Minute)
		require.NoError(t, lease.Context().Err())
		require.NoError(t, lease.Release(t.Context()))
		synctest.Wait()
		var events []string
		for _, span := range spans.Ended() {
			if span.Name() == "hold mutex" {
				for _, e := range span.Events() {
					events = append(events, e.Name)
				}
			}
		}
		require.Equal(t, []string{"connection suspended", "connection restored"}, events)
	})
}

// behindTheGrant is a Tracer that does something between a grant and the claim.
type behindTheGrant struct {
	*tracing.Tracer
	do atomic.Pointer[func()] // once
}

func (b *behindTheGrant) EndOperation(ctx context.Context, end framework.OperationEnd) {
	b.Tracer.EndOperation(ctx, end)
	if end.Name == "children" {
		if do := b.do.Swap(nil); do != nil {
			(*do)()
		}
	}
}

// An interruption between the grant and the claim, under the standard policy: the node is given up, and nobody has handed
// over what comes later.
func TestGrantThatIsNotTrustedIsAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, spans := zktest.New(t), tracetest.NewSpanRecorder()
		provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
		tracer := &behindTheGrant{Tracer: tracing.New(tracing.WithTracerProvider(provider))}
		connect := func(opts ...framework.Option) *framework.Client {
			c, err := framework.New(srv.Addr(), append(opts, framework.WithDialer(srv.Dialer()),
				framework.WithSessionTimeout(time.Minute), framework.WithErrorPolicy(state.StandardPolicy))...)
			require.NoError(t, err)
			t.Cleanup(func() { c.Close() })
			return c
		}
		holder, waiter := connect(), connect(framework.WithTracer(tracer))
		held, err := recipes.NewInterProcessMutex(holder, "/lock").Acquire(t.Context())
		require.NoError(t, err)
		released := make(chan error)
		go func() {
			lease, err := recipes.NewInterProcessMutex(waiter, "/lock").Acquire(t.Context())
			if err == nil {
				err = lease.Release(t.Context())
			}
			released <- err
		}()
		time.Sleep(time.Second)
		interrupt := func() {
			srv.Inject(zktest.Rule{Op: zktest.OpConnect, Do: zktest.DelayRequest(20 * time.Second)})
			srv.CutSession(waiter.SessionID())
			time.Sleep(time.Second)
		}
		tracer.do.Store(&interrupt)
		require.NoError(t, held.Release(t.Context()))
		require.NoError(t, <-released)
		var events []string
		for _, span := range spans.Ended() {
			if span.Name() != "acquire mutex" {
				continue
			}
			for _, e := range span.Events() {
				events = append(events, e.Name)
				if e.Name == "handed over" { // at most by our own old node
					require.Less(t, about(e.Attributes)["curator.lock.handoff.duration"], 1.0)
				}
			}
		}
		require.Contains(t, events, "abandoned")
	})
}
