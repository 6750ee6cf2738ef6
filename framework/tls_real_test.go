//go:build real

package framework_test

import (
	"crypto/tls"
	"crypto/x509"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkserver"
	"github.com/gocurator/curator/state"
)

// overTLS returns a client of a server's TLS port. It need not be able to
// connect.
func overTLS(t *testing.T, srv *zkserver.Server, cfg *tls.Config, opts ...framework.Option) *framework.Client {
	t.Helper()
	c, err := framework.New(srv.TLSAddr()+chroot(t), append([]framework.Option{framework.WithTLS(cfg), framework.WithSessionTimeout(longSession)}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

func TestRealServerRestartOverTLSKeepsSessionAndWatches(t *testing.T) {
	t.Parallel()
	srv := borrowTLSServer(t, tls.RequireAndVerifyClientCert)
	ctx := within(t, stuck)
	c := overTLS(t, srv, srv.ClientTLS())
	require.NoError(t, c.WaitConnected(ctx))
	es := makeSessionNodes(t, ctx, c, "/tls")
	states := c.States(ctx)
	require.NoError(t, srv.Restart())
	require.Equal(t, []state.State{state.Suspended, state.Reconnected}, untilConnected(states))
	other := realClient(t, srv, chroot(t))
	es.requireIntact(t, ctx, c, other, "/tls")
}

// A TLS connection that is closed says farewell, which must not hold up a
// client whose server is silent.
func TestRealServerPauseOverTLSEndsTheSession(t *testing.T) {
	t.Parallel()
	srv := borrowTLSServer(t, tls.NoClientCert)
	ctx := within(t, stuck)
	c := overTLS(t, srv, srv.ClientTLS(), shortSessionOptions()...)
	require.NoError(t, c.WaitConnected(ctx))
	es := makeSessionNodes(t, ctx, c, "/tls")
	states := c.States(ctx)
	require.NoError(t, srv.Pause())
	requireLost(t, es.node.Session, shortSession)
	require.NoError(t, srv.Resume())
	require.Equal(t, []state.State{state.Suspended, state.Lost, state.Reconnected}, untilConnected(states))
	requireGone(t, ctx, c, es.node.Path)
}

// A bad certificate stays bad: callers that wait must be told the reason, and
// not only that there is no connection. In TLS 1.3 a client hears what the
// server thinks of its certificate only when it reads the first answer.
func TestRealServerTLSErrorsNameTheCause(t *testing.T) {
	t.Parallel()
	spoilt := []struct {
		name, cause string
		spoil       func(*tls.Config)
	}{
		{"unknown authority", "x509: certificate signed by unknown authority", func(cfg *tls.Config) { cfg.RootCAs = x509.NewCertPool() }},
		{"another server's name", "zk.example.org", func(cfg *tls.Config) { cfg.ServerName = "zk.example.org" }},
		{"no client certificate", "tls: ", func(cfg *tls.Config) { cfg.Certificates = nil }},
	}
	for version, ciphers := range map[string]string{
		"TLSv1.2": "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
		"TLSv1.3": "TLS_AES_128_GCM_SHA256",
	} {
		srv := zkserver.Start(t, zkserver.WithTLS(tls.RequireAndVerifyClientCert),
			zkserver.WithProperty("ssl.protocol", version), zkserver.WithProperty("ssl.ciphersuites", ciphers))
		for _, tt := range spoilt {
			t.Run(version+" "+tt.name, func(t *testing.T) {
				t.Parallel()
				cfg := srv.ClientTLS()
				tt.spoil(cfg)
				c := overTLS(t, srv, cfg)
				ctx := within(t, stuck)
				err := c.WaitConnected(within(t, 500*time.Millisecond))
				for err != nil && !strings.Contains(err.Error(), tt.cause) && ctx.Err() == nil { // the first attempt goes on
					err = c.WaitConnected(within(t, 500*time.Millisecond))
				}
				require.ErrorContains(t, err, tt.cause)
				_, _, err = c.Get(within(t, 500*time.Millisecond), "/")
				require.ErrorContains(t, err, tt.cause)
			})
		}
	}
}
