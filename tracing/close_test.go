package tracing_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes"
	"github.com/gocurator/curator/testing/zktest"
	"github.com/gocurator/curator/tracing"
)

// A program that ends closes its client, and then shuts its providers down. In real time and many times, since the end of
// a lease finds its way to the tracer on a goroutine of its own.
func TestCloseEndsTheSpansOfHolds(t *testing.T) {
	for range 100 {
		srv := zktest.New(t)
		spans := tracetest.NewSpanRecorder()
		c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()),
			framework.WithTracer(tracing.New(tracing.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))))))
		require.NoError(t, err)
		_, err = recipes.NewInterProcessMutex(c, "/lock").Acquire(t.Context())
		require.NoError(t, err)
		require.NoError(t, c.Close())
		require.Len(t, spans.Ended(), 2)
		for _, span := range spans.Ended() {
			if span.Name() == "hold mutex" {
				require.Equal(t, "client_closed", about(span.Attributes())["curator.lock.end"])
			}
		}
	}
}
