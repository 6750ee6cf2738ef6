//go:build real

package interop_test

import (
	"path"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locktrace"
	"github.com/gocurator/curator/tracing"
)

// A holder that is not a Go process has no trace to link to. The wait for it
// and the end of that wait are still traced.
func TestWaitForAJavaHolderIsTraced(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, srv *testServer) {
		lock := lockPath(t)
		recorder := tracetest.NewSpanRecorder()
		c := srv.connect(t, longSession, framework.WithHooks(tracing.New(
			tracing.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))))))
		holder := acquire(t, srv.contender(t, inJava), lock)
		waiting := acquireLater(goContender{client: c, kind: mutex}, lock, waitLimit)
		waits := func() bool { return framework.Extend(c).Watches() == 2 } // the holder's node, and its own
		require.Eventually(t, waits, waitLimit, time.Millisecond)
		require.NoError(t, holder.release())
		require.NoError(t, waiting.wait(t).release())

		require.Len(t, recorder.Ended(), 2)
		acquired := recorder.Ended()[0]
		require.Equal(t, "acquire "+locktrace.RecipeMutex, acquired.Name())
		require.Empty(t, acquired.Links())
		attributes := attribute.NewSet(acquired.Attributes()...)
		value := func(of attribute.Set, key attribute.Key) string {
			v, _ := of.Value(key)
			return v.String()
		}
		require.Equal(t, "unknown", value(attributes, "curator.lock.holder"))
		require.Equal(t, path.Base(holder.node), value(attributes, "curator.lock.holder.node"))
		require.Equal(t, "acquired", value(attributes, "curator.lock.outcome"))
		var names []string
		for _, event := range acquired.Events() {
			names = append(names, event.Name)
			if event.Name == "handed over" {
				attributes := attribute.NewSet(event.Attributes...)
				require.Equal(t, path.Base(holder.node), value(attributes, "curator.lock.predecessor.node"))
			}
		}
		require.Equal(t, []string{"enqueued", "watching", "woken", "handed over", "granted"}, names)
	})
}
