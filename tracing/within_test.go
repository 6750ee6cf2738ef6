package tracing_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

func ignoreLoss(err error) error {
	if errors.Is(err, framework.ErrSessionLost) {
		return nil
	}
	return err
}

// The acquire span of several locks has ended when the work under them begins.
func TestWorkUnderSeveralLocksIsInNoSpanThatHasEnded(t *testing.T) {
	withService(t, func(t *testing.T, s *story, v *service) {
		request := s.request(v, "POST /swap")
		paths := []string{"/locks/a", "/locks/b"}
		for _, ctx := range []context.Context{request, context.Background()} {
			lock := locks.NewInterProcessMultiLock(locks.SortedMutexes(v.client, paths, locks.WithName("both"))...)
			lease, err := lock.Acquire(ctx)
			require.NoError(t, err)
			a, b := lease.Leases()[0], lease.Leases()[1]
			for _, work := range []context.Context{lease.Context(), a.Context(), b.Context()} {
				in := trace.SpanFromContext(work).(sdktrace.ReadOnlySpan)
				require.Zero(t, in.EndTime(), "%s has ended", in.Name())
				if ctx == request {
					require.Equal(t, trace.SpanFromContext(request), trace.SpanFromContext(work))
				} else {
					require.Equal(t, "hold both", in.Name())
				}
				single := s.must(v.mutex().Acquire(work))
				require.Equal(t, trace.SpanFromContext(work), trace.SpanFromContext(single.Context()))
				s.release(single, 0)
			}
			require.NoError(t, lease.Release(t.Context()))
		}
	})
}

// This test runs in real time, since virtual time would stand still between the
// end of a span and its last event.
func TestEventsAreWithinTheirSpans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		spans := tracetest.NewSpanRecorder()
		c, err := framework.New(srv.Addr(),
			framework.WithDialer(srv.Dialer()),
			recordInto(spans))
		require.NoError(t, err)
		defer c.Close()

		mutex := locks.NewInterProcessMutex(c, "/lock")
		lease, err := mutex.Acquire(t.Context())
		require.NoError(t, err)
		next := make(chan error, 1)
		go func() {
			lease, err := locks.NewInterProcessMutex(c, "/lock").Acquire(t.Context())
			if err == nil {
				srv.Session(c.SessionID()).Expire()
				<-lease.Context().Done()
				err = ignoreLoss(lease.Release(context.Background()))
			}
			next <- err
		}()
		require.NoError(t, srv.WaitFor(t.Context(), func() bool { return len(srv.Watches()) > 0 }))
		require.NoError(t, lease.Release(context.Background()))
		require.NoError(t, <-next)

		require.Len(t, spans.Ended(), 4, "a release, even of a lost lock, ends the spans before it returns")
		for _, span := range spans.Ended() {
			for _, e := range span.Events() {
				// The client reports these at any time.
				if strings.HasPrefix(e.Name, "connection ") {
					continue
				}
				require.False(t, e.Time.Before(span.StartTime()), "%s: %s", span.Name(), e.Name)
				require.False(t, e.Time.After(span.EndTime()), "%s: %s", span.Name(), e.Name)
			}
		}
	})
}

// A multi-lock has one span even if only a later one of its locks has a hook.
func TestMultiLockWhoseFirstClientHasNoTracer(t *testing.T) {
	withService(t, func(t *testing.T, s *story, v *service) {
		c, err := framework.New(s.srv.Addr(), framework.WithDialer(s.srv.Dialer()))
		require.NoError(t, err)
		defer c.Close()
		a := locks.NewInterProcessMutex(c, "/locks/a")
		b := locks.NewInterProcessMutex(v.client, "/locks/b")
		lease, err := locks.NewInterProcessMultiLock(a, b).Acquire(t.Context())
		require.NoError(t, err)
		require.NoError(t, lease.Release(t.Context()))
		v.endedSpan(t, "acquire multi_lock")
	})
}
