package framework_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// certificate returns one for "zk1" that signs itself, and a pool with nothing
// else.
func certificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := x509.Certificate{
		SerialNumber: big.NewInt(1),
		DNSNames:     []string{"zk1"},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().AddDate(10, 0, 0),
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// proxy passes what comes over a connection on to the server.
func proxy(nc net.Conn, srv *zktest.Server) {
	to, err := srv.Dialer()(context.Background(), "tcp", srv.Addr())
	if err != nil {
		nc.Close()
		return
	}
	go func() {
		io.Copy(to, nc)
		to.Close()
	}()
	io.Copy(nc, to)
	nc.Close()
}

// tlsDialer returns a dialer that reaches the server only through TLS, within
// the process.
func tlsDialer(srv *zktest.Server, cert tls.Certificate) framework.DialFunc {
	return func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go proxy(tls.Server(server, &tls.Config{Certificates: []tls.Certificate{cert}}), srv)
		return client, nil
	}
}

func TestTLSKeepsASessionThroughReconnects(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		cert, pool := certificate(t)
		cfg := &tls.Config{RootCAs: pool}
		c, err := framework.New("zk1", framework.WithSessionTimeout(sessionTimeout),
			framework.WithDialer(tlsDialer(srv, cert)), framework.WithTLS(cfg))
		require.NoError(t, err)
		defer c.Close()
		cfg.RootCAs = x509.NewCertPool() // the client has its own copy
		require.NoError(t, c.WaitConnected(t.Context()))
		id := c.SessionID()
		h := observe(t, c)
		time.Sleep(time.Hour)
		srv.CutAll()
		time.Sleep(time.Minute)
		require.Equal(t, []state.State{state.Suspended, state.Reconnected}, h.seen())
		require.Equal(t, id, c.SessionID())
		require.Empty(t, cfg.ServerName)
	})
}

// countedConn counts itself off when it is closed.
type countedConn struct {
	net.Conn
	open *atomic.Int32
	once sync.Once
}

func (c *countedConn) Close() error {
	c.once.Do(func() { c.open.Add(-1) })
	return c.Conn.Close()
}

func TestTLSFailuresAreNamed(t *testing.T) {
	for name, tc := range map[string]struct {
		server string
		trust  bool
		plain  bool // the server
		none   bool // the client has no TLS
		want   string
	}{
		"unknown authority": {server: "zk1", want: "tls handshake with zk1:2181: tls: failed to verify certificate: x509: certificate signed by unknown authority"},
		"another host":      {server: "zk2", trust: true, want: "tls handshake with zk2:2181: tls: failed to verify certificate: x509: certificate is valid for zk1, not zk2"},
		"no TLS there":      {server: "zk1", plain: true, want: "tls handshake with zk1:2181: EOF"},
		"no TLS here":       {server: "zk1", none: true, want: "handshake with pipe: EOF (the server may expect TLS"},
	} {
		t.Run(name, func(t *testing.T) {
			serverOnly(t, func(t *testing.T, srv *zktest.Server) {
				cert, pool := certificate(t)
				dial := tlsDialer(srv, cert)
				if tc.plain {
					dial = srv.Dialer()
				}
				if !tc.trust {
					pool = x509.NewCertPool()
				}
				var open atomic.Int32
				counted := func(ctx context.Context, network, address string) (net.Conn, error) {
					nc, err := dial(ctx, network, address)
					open.Add(1)
					return &countedConn{Conn: nc, open: &open}, err
				}
				opts := []framework.Option{framework.WithDialer(counted), framework.WithConnectionTimeout(time.Second)}
				if !tc.none {
					opts = append(opts, framework.WithTLS(&tls.Config{RootCAs: pool}))
				}
				c, err := framework.New(tc.server, opts...)
				require.NoError(t, err)
				defer c.Close()
				_, _, err = c.Get(t.Context(), "/")
				require.ErrorIs(t, err, framework.ErrNotConnected)
				require.ErrorContains(t, err, "last attempt: "+tc.want)
				require.NoError(t, c.Close())
				require.Zero(t, open.Load(), "every connection was closed")
			})
		})
	}
}

// A peer that takes the connection and says nothing must not take the time of
// the other servers.
func TestTLSHandshakeEndsWithTheAttempt(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		cert, pool := certificate(t)
		through := tlsDialer(srv, cert)
		attempts := 0
		c, err := framework.New("zk1,zk1:2182,zk1:2183", framework.WithSessionTimeout(sessionTimeout),
			framework.WithTLS(&tls.Config{RootCAs: pool}),
			framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
				if attempts++; attempts == 3 {
					return through(ctx, network, address)
				}
				client, server := net.Pipe()
				go io.Copy(io.Discard, server)
				return client, nil
			}))
		require.NoError(t, err)
		defer c.Close()
		begin := time.Now()
		require.NoError(t, c.WaitConnected(t.Context()))
		require.Equal(t, noticesMute*2/3, time.Since(begin))
	})
}
