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
	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
	"github.com/gocurator/curator/tracing"
)

// delayedStates is a hook that hears of each state long after its end, which
// the interface allows.
type delayedStates struct{ *tracing.Tracer }

func (l delayedStates) StateChanged(change clienttrace.StateChange) {
	time.Sleep(20 * time.Second)
	l.Tracer.StateChanged(change)
}

func TestSpansHearOfNothingThatWasBeforeThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, spans := zktest.Start(t), tracetest.NewSpanRecorder()
		provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
		c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()),
			framework.WithHooks(delayedStates{tracing.New(tracing.WithTracerProvider(provider)).(*tracing.Tracer)}))
		require.NoError(t, err)
		defer c.Close()
		require.NoError(t, c.WaitConnected(t.Context()))
		time.Sleep(time.Minute)
		srv.Session(c.SessionID()).Expire()
		time.Sleep(10 * time.Second)
		lease, err := locks.NewInterProcessMutex(c, "/lock").Acquire(t.Context())
		require.NoError(t, err)
		time.Sleep(2 * time.Minute) // the hook has heard of all of the loss
		srv.Session(c.SessionID()).Cut()
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

// afterGrant is a hook that runs something between the grant and the creation of
// the lease.
type afterGrant struct {
	hook atomic.Pointer[func()] // runs once
}

func (b *afterGrant) EndOperation(_ context.Context, end clienttrace.OperationEnd) {
	if end.Name == "children" {
		if do := b.hook.Swap(nil); do != nil {
			(*do)()
		}
	}
}

// The connection is interrupted between the grant and the creation of the
// lease, under the standard policy. The acquire gives its node up. The grant
// that follows was not handed over by the contender that left before.
func TestGrantThatIsNotTrustedIsAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, spans := zktest.Start(t), tracetest.NewSpanRecorder()
		provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
		tracer := &afterGrant{}
		connect := func(opts ...framework.Option) *framework.Client {
			c, err := framework.New(srv.Addr(), append(opts, framework.WithDialer(srv.Dialer()),
				framework.WithSessionTimeout(time.Minute),
				framework.WithErrorPolicy(state.StandardPolicy))...)
			require.NoError(t, err)
			t.Cleanup(func() { c.Close() })
			return c
		}
		holder, waiter := connect(), connect(framework.WithHooks(tracing.New(tracing.WithTracerProvider(provider)), tracer))
		held, err := locks.NewInterProcessMutex(holder, "/lock").Acquire(t.Context())
		require.NoError(t, err)
		released := make(chan error)
		go func() {
			lease, err := locks.NewInterProcessMutex(waiter, "/lock").Acquire(t.Context())
			if err == nil {
				err = lease.Release(t.Context())
			}
			released <- err
		}()
		time.Sleep(time.Second)
		srv.Session(waiter.SessionID()).Cut() // so that the event proves nothing, and the waiter looks
		time.Sleep(time.Second)
		interrupt := func() {
			srv.Inject(zktest.Rule{Op: zktest.OpConnect, Do: zktest.DelayRequest(20 * time.Second)})
			srv.Session(waiter.SessionID()).Cut()
			time.Sleep(time.Second)
		}
		tracer.hook.Store(&interrupt)
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
					require.Less(t, attributesOf(e.Attributes)["curator.lock.handoff.duration"], 1.0)
				}
			}
		}
		require.Contains(t, events, "abandoned")
	})
}
