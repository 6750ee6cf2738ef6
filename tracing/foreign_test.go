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

// Any client that may create a node below a lock's path can give it a name with
// control characters, such as one that reverses the direction of a text.
func TestNamesOfForeignNodesAreLegible(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		require.NoError(t, srv.Create("/lock/_c_\u202egnp.\u2028-lock-0000000000", nil))
		spans := tracetest.NewSpanRecorder()
		c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()),
			recordInto(spans))
		require.NoError(t, err)
		defer c.Close()
		require.NoError(t, srv.SetSequence("/lock", 1))
		_, err = locks.NewInterProcessMutex(c, "/lock").TryAcquire(t.Context())
		require.ErrorIs(t, err, locks.ErrNotAcquired)
		require.Len(t, spans.Ended(), 1)
		attrs := attributesOf(spans.Ended()[0].Attributes())
		require.Equal(t, `"_c_\u202egnp.\u2028-lock-0000000000"`, attrs["curator.lock.holder.node"])
	})
}
