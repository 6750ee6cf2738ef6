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

// Whoever creates a node below a lock's path may give it a name that turns the
// text of a trace round.
func TestNamesOfForeignNodesAreLegible(t *testing.T) {
	srv := zktest.New(t)
	require.NoError(t, srv.Create("/lock/_c_\u202egnp.\u2028-lock-0000000000", nil))
	spans := tracetest.NewSpanRecorder()
	c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()),
		framework.WithTracer(tracing.New(tracing.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))))))
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, srv.SetSequence("/lock", 1))
	_, err = recipes.NewInterProcessMutex(c, "/lock").TryAcquire(t.Context())
	require.ErrorIs(t, err, recipes.ErrNotAcquired)
	require.Len(t, spans.Ended(), 1)
	require.Equal(t, `"_c_\u202egnp.\u2028-lock-0000000000"`, about(spans.Ended()[0].Attributes())["curator.lock.holder.node"])
}
