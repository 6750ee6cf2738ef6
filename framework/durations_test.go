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

// A caller that waits for another one's create of the same path does not spin,
// however short its connection timeout is.
func TestShortConnectionTimeoutDoesNotSpin(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c := newClient(t, srv)
		mustCreate(t, c, "/n", "")
		hasty := newClient(t, srv, framework.WithConnectionTimeout(1))
		require.NoError(t, hasty.WaitConnected(t.Context()))
		srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.DelayReply(5 * time.Second)})
		create := func() error {
			_, err := hasty.Create(t.Context(), "/x", nil, framework.WithMode(framework.Ephemeral))
			return err
		}
		go create()
		time.Sleep(time.Second)
		begin := time.Now()
		require.Error(t, create())
		require.Equal(t, 4*time.Second, time.Since(begin))
	})
}

func TestSuspensionOfAnyLengthEndsTheSession(t *testing.T) {
	for _, slept := range []time.Duration{time.Hour, math.MaxInt64 / 2, math.MaxInt64} {
		serverOnly(t, func(t *testing.T, srv *zktest.Server) {
			var machine suspendClock
			c := newClient(t, srv, machine.option())
			s, err := c.Session(t.Context())
			require.NoError(t, err)
			time.Sleep(10 * time.Second)
			machine.nanos.Store(int64(slept))
			time.Sleep(1100 * time.Millisecond)
			require.Error(t, s.Context().Err(), slept)
			s, err = c.Session(t.Context())
			require.NoError(t, err)
			time.Sleep(time.Minute)
			require.NoError(t, s.Context().Err())
		})
	}
}
