package tracing_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// A program that ends closes its client and then shuts its providers down. The
// end of a lease reaches the tracer on a goroutine of its own. So this test
// runs in real time, and many times.
func TestCloseEndsTheSpansOfHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 100 {
			srv := zktest.Start(t)
			spans := tracetest.NewSpanRecorder()
			c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()),
				recordInto(spans))
			require.NoError(t, err)
			_, err = locks.NewInterProcessMutex(c, "/lock").Acquire(t.Context())
			require.NoError(t, err)
			require.NoError(t, c.Close())
			require.Len(t, spans.Ended(), 2)
			for _, span := range spans.Ended() {
				if span.Name() == "hold mutex" {
					require.Equal(t, "client_closed", attributesOf(span.Attributes())["curator.lock.end"])
				}
			}
		}
	})
}
