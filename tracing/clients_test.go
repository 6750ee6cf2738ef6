package tracing_test

import (
	"context"
	"fmt"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/tracing"
)

// A dialer asks another client where to connect to, and that one has lost its
// session. The client that dials has none to lose.
func TestErrorOfADialerIsNoExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial := func(context.Context, string, string) (net.Conn, error) {
			return nil, fmt.Errorf("where is the proxy: %w", framework.ErrSessionLost)
		}
		v := &service{meter: sdkmetric.NewManualReader()}
		c, err := framework.New("zk:2181", framework.WithDialer(dial),
			framework.WithHooks(tracing.New(tracing.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(v.meter))))))
		require.NoError(t, err)
		defer c.Close()
		time.Sleep(time.Hour)
		require.Zero(t, v.totals(t)["curator.session.expiries"])
	})
}
