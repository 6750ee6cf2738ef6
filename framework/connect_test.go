package framework_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// connect calls Connect with the options of newClient. The test fails if a
// client is returned together with an error.
func connect(
	t *testing.T, ctx context.Context, srv *zktest.Server, opts ...framework.Option,
) (*framework.Client, error) {
	t.Helper()
	c, err := framework.Connect(ctx, srv.Addr(), append([]framework.Option{
		framework.WithDialer(srv.Dialer()), framework.WithSessionTimeout(sessionTimeout),
	}, opts...)...)
	if err != nil {
		require.Nil(t, c)
	}
	return c, err
}

// assertNothingLeft fails if the server has a connection or a session left. A
// goroutine that is left behind makes the bubble of the test fail.
func assertNothingLeft(t *testing.T, srv *zktest.Server) {
	t.Helper()
	synctest.Wait()
	require.Zero(t, srv.Stats().Connections)
	require.Empty(t, srv.Sessions())
}

func TestConnectedClientOutlivesTheContextOfConnect(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		ctx, cancel := context.WithCancel(t.Context())
		c, err := connect(t, ctx, srv)
		require.NoError(t, err)
		defer c.Close()
		cancel()
		session := c.SessionID()
		time.Sleep(time.Hour)
		require.True(t, c.State().IsConnected())
		require.Equal(t, session, c.SessionID())
	})
}

func TestConnectEndsWithItsContextAndLeavesNothingBehind(t *testing.T) {
	for name, trouble := range map[string]struct {
		begin func(*zktest.Server)
		why   string // is in the error
	}{
		"the server is down": {func(srv *zktest.Server) { _ = srv.Stop() }, "connection refused"},
		"the server refuses": {
			func(srv *zktest.Server) { srv.RefuseConnections(true) }, "connection refused",
		},
		"the server is mute": {
			func(srv *zktest.Server) {
				srv.Inject(zktest.Rule{Op: zktest.OpConnect, Times: -1, Do: zktest.Blackhole()})
			}, "last attempt",
		},
	} {
		serverOnly(t, func(t *testing.T, srv *zktest.Server) {
			trouble.begin(srv)
			begun := time.Now()
			_, err := connect(t, within(t, 30*time.Second), srv)
			require.ErrorIs(t, err, context.DeadlineExceeded, name)
			require.ErrorIs(t, err, framework.ErrNotConnected, name)
			require.ErrorContains(t, err, trouble.why, name)
			require.GreaterOrEqual(t, time.Since(begun), 30*time.Second, name)
			require.LessOrEqual(t, time.Since(begun), 31*time.Second, name)
			assertNothingLeft(t, srv)
		})
	}
}

func TestConnectEndsAtOnceWhenTheCredentialsAreRefused(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		begun := time.Now()
		_, err := connect(t, t.Context(), srv, framework.WithAuth("nonsense", nil))
		require.ErrorIs(t, err, zk.ErrAuthFailed)
		require.ErrorContains(t, err, `refused the credentials of scheme "nonsense"`)
		require.LessOrEqual(t, time.Since(begun), time.Second)
		assertNothingLeft(t, srv)
	})
}
