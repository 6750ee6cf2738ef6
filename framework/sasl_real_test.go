//go:build real

package framework_test

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/sasl"
	"github.com/gocurator/curator/internal/zkserver"
)

// difficult has characters that are quoted, and is in no single encoding of a byte.
const difficult = "pa\\ss \"wört\" €"

func saslUsers(t *testing.T) zkserver.Option {
	return zkserver.WithSASLUsers(t, map[string]string{"joe": "open sesame", "sue": difficult})
}

func TestRealServerSASLHoldsOnEveryConnectionAndInEverySession(t *testing.T) {
	t.Parallel()
	srv := zkserver.Start(t, saslUsers(t), zkserver.WithJVMFlags(
		"-Dzookeeper.enforce.auth.enabled=true", "-Dzookeeper.enforce.auth.schemes=sasl"))
	c := realClient(t, srv, "", append(shortSessionOptions(), joe)...)
	sue := realClient(t, srv, "", framework.WithSASL(sasl.DigestMD5("sue", difficult)), alice)
	ctx := within(t, stuck)
	_, err := c.Create(ctx, "/his", nil, framework.WithACL([]zk.ACL{{Perms: zk.PermAll, Scheme: "sasl", ID: "joe"}}))
	require.NoError(t, err)
	_, _, err = sue.Get(ctx, "/his")
	require.ErrorIs(t, err, zk.ErrNoAuth)
	_, err = c.SetACL(ctx, "/his", []zk.ACL{{Perms: zk.PermAll, Scheme: "sasl", ID: "joe"}, {Perms: zk.PermRead, Scheme: "sasl", ID: "sue"}}, framework.AnyVersion)
	require.NoError(t, err)
	_, _, err = sue.Get(ctx, "/his")
	require.NoError(t, err)

	require.NoError(t, srv.Restart())
	_, err = c.Set(ctx, "/his", nil, framework.AnyVersion)
	require.NoError(t, err, "after a reconnect")
	session, err := c.Session(ctx)
	require.NoError(t, err)
	require.NoError(t, srv.Pause())
	requireLost(t, session, shortSession)
	require.NoError(t, srv.Resume())
	_, err = c.Set(ctx, "/his", nil, framework.AnyVersion)
	require.NoError(t, err, "in a new session")
	require.NotEqual(t, session.ID(), c.SessionID())
}

func TestRealServerRefusesSASL(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		flags []string
		code  int32
	}{
		"optional":                   {nil, -115},
		"required":                   {[]string{"-Dzookeeper.enforce.auth.enabled=true", "-Dzookeeper.enforce.auth.schemes=sasl"}, -124},
		"required, the older way":    {[]string{"-Dzookeeper.sessionRequireClientSASLAuth=true"}, -124},
		"failed clients are allowed": {[]string{"-Dzookeeper.allowSaslFailedClients=true"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := zkserver.Start(t, saslUsers(t), zkserver.WithJVMFlags(tc.flags...))
			_, err := framework.Connect(within(t, stuck), srv.Addr(), framework.WithSASL(sasl.DigestMD5("joe", "sesame street")))
			requireRefused(t, err, tc.code)
			c := realClient(t, srv, "", joe)
			require.NoError(t, c.Sync(within(t, stuck), "/"))

			begin := time.Now()
			none, err := framework.Connect(within(t, stuck), srv.Addr())
			if tc.code != -124 {
				require.NoError(t, err)
				require.NoError(t, none.Close())
				return
			}
			requireUnauthenticated(t, err)
			require.Less(t, time.Since(begin), stuck/2)
		})
	}
}

// Without a JAAS file, a server answers the first message with none, and goes on.
func TestRealServerWithoutSASLIsNotUsed(t *testing.T) {
	t.Parallel()
	srv := zkserver.Shared(t)
	_, err := framework.Connect(within(t, stuck), srv.Addr(), joe)
	requireRefused(t, err, 0)
	require.ErrorContains(t, err, "its SASL is not configured")
}

// A server that requires authentication of any scheme takes the credentials of WithAuth,
// if these precede the ping in the handshake.
func TestRealServerThatRequiresOtherCredentials(t *testing.T) {
	t.Parallel()
	srv := zkserver.Start(t, zkserver.WithJVMFlags(
		"-Dzookeeper.enforce.auth.enabled=true", "-Dzookeeper.enforce.auth.schemes=digest"))
	for range 3 {
		c := realClient(t, srv, "", alice)
		require.NoError(t, c.Sync(within(t, stuck), "/"))
	}
	_, err := framework.Connect(within(t, stuck), srv.Addr())
	requireUnauthenticated(t, err)
}
