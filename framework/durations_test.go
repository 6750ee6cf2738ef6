package framework_test

import (
	"context"
	"fmt"
	"math"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// A client comes back after an outage in which many rounds over the servers
// fail, whatever its connection timeout, and makes no more attempts meanwhile
// than others.
func TestConnectionTimeoutOfAnyLength(t *testing.T) {
	for _, timeout := range []time.Duration{1, time.Second, time.Hour, 100 * 365 * 24 * time.Hour, math.MaxInt64} {
		for _, connected := range []bool{true, false} {
			t.Run(fmt.Sprintf("%v, connected before %v", timeout, connected), func(t *testing.T) {
				serverOnly(t, func(t *testing.T, srv *zktest.Server) {
					srv.RefuseConnections(!connected)
					dials := 0
					c := newClient(t, srv, framework.WithConnectionTimeout(timeout),
						framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
							dials++
							return srv.Dialer()(ctx, network, address)
						}))
					time.Sleep(time.Second)
					outage(srv, 5*time.Minute)
					require.InDelta(t, 300, dials, 200)
					require.NoError(t, c.WaitConnected(within(t, 3*time.Second)))
					require.NoError(t, c.Sync(t.Context(), "/"))
				})
			})
		}
	}
}

// A server that takes the connection and says nothing holds up nobody for long,
// whether many rounds have failed before or none.
func TestNoAttemptTakesVeryLong(t *testing.T) {
	for name, option := range map[string]framework.Option{
		"connection timeout": framework.WithConnectionTimeout(math.MaxInt64),
		"session timeout":    framework.WithSessionTimeout(24 * time.Hour),
	} {
		for _, failing := range []time.Duration{0, 5 * time.Minute} {
			t.Run(fmt.Sprintf("%s, after %v", name, failing), func(t *testing.T) {
				serverOnly(t, func(t *testing.T, srv *zktest.Server) {
					mute := srv.Inject(zktest.Rule{Op: zktest.OpConnect, Times: -1, Do: zktest.Blackhole()})
					srv.RefuseConnections(failing > 0)
					c := newClient(t, srv, option)
					time.Sleep(failing)
					srv.RefuseConnections(false)
					time.Sleep(10 * time.Second)
					mute.Remove()
					require.NoError(t, c.WaitConnected(within(t, 2*time.Minute+time.Second)))
				})
			})
		}
	}
}
