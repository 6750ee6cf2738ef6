package tracing_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/gocurator/curator/recipes/locks"
)

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
