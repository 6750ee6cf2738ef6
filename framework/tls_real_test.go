package framework_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zkserver"
)

// overTLS returns a client of a server's TLS port. It need not be able to connect.
func overTLS(t *testing.T, srv *zkserver.Server, cfg *tls.Config, timeout time.Duration) *framework.Client {
	t.Helper()
	c, err := framework.New(srv.TLSAddr(), framework.WithTLS(cfg), framework.WithSessionTimeout(timeout),
		framework.WithConnectionTimeout(5*time.Second))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

func TestRealServerRestartOverTLSKeepsSessionAndWatches(t *testing.T) {
	srv := zkserver.Start(t, zkserver.WithTLS(tls.RequireAndVerifyClientCert))
	ctx := within(t, 50*time.Second)
	c := overTLS(t, srv, srv.ClientTLS(), 30*time.Second)
	require.NoError(t, c.WaitConnected(ctx))
	es := settle(t, ctx, c, "/tls")
	states := c.States(ctx)
	require.NoError(t, srv.Restart())
	require.Equal(t, []state.State{state.Suspended, state.Reconnected}, untilConnected(states))
	other := realClient(t, srv, "")
	es.requireIntact(t, ctx, c, other, "/tls")
}

// A TLS connection that is closed says farewell, which must not hold up a client whose server is silent.
func TestRealServerPauseOverTLSEndsTheSession(t *testing.T) {
	const timeout = 2 * time.Second
	srv := zkserver.Start(t, zkserver.WithTLS(tls.NoClientCert))
	ctx := within(t, 40*time.Second)
	c := overTLS(t, srv, srv.ClientTLS(), timeout)
	require.NoError(t, c.WaitConnected(ctx))
	es := settle(t, ctx, c, "/tls")
	states := c.States(ctx)
	begin := time.Now()
	require.NoError(t, srv.Pause())
	<-es.node.Session.Context().Done()
	require.ErrorIs(t, context.Cause(es.node.Session.Context()), framework.ErrSessionLost)
	require.Less(t, time.Since(begin), timeout*9/10+100*time.Millisecond)
	require.NoError(t, srv.Resume())
	require.Equal(t, []state.State{state.Suspended, state.Lost, state.Reconnected}, untilConnected(states))
	requireGone(t, ctx, c, es.node.Path)
}

func TestRealServerOverTLSWithoutClientCertificate(t *testing.T) {
	srv := zkserver.Start(t, zkserver.WithTLS(tls.NoClientCert))
	cfg := srv.ClientTLS()
	cfg.Certificates = nil
	c := overTLS(t, srv, cfg, 10*time.Second)
	_, err := c.Create(within(t, 20*time.Second), "/n", nil)
	require.NoError(t, err)
}

// What is wrong with a certificate stays wrong: whoever waits must be told, not only that there is no connection. In TLS
// 1.3 a client hears what the server thinks of its certificate only when it reads the first answer.
func TestRealServerTLSErrorsNameTheCause(t *testing.T) {
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
				c := overTLS(t, srv, cfg, 10*time.Second)
				_, _, err := c.Get(within(t, 2*time.Second), "/")
				require.ErrorContains(t, err, tt.cause)
				require.ErrorContains(t, c.WaitConnected(within(t, time.Second)), tt.cause)
			})
		}
	}
}
