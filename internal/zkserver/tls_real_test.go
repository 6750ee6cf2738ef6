//go:build real

package zkserver

import (
	"crypto/tls"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"
)

// connectTLS returns a client with a session on a TLS port.
func connectTLS(t *testing.T, config *tls.Config, addrs ...string) *zk.Conn {
	t.Helper()
	return connectWith(t, addrs, func(network, address string, d time.Duration) (net.Conn, error) {
		return tls.DialWithDialer(&net.Dialer{Timeout: d}, network, address, config)
	})
}

// tryHandshake connects over TLS and reads one byte. In TLS 1.3 a client learns
// only with that byte that the server rejects its certificate or the lack of
// one.
func tryHandshake(t *testing.T, srv *Server, config *tls.Config) error {
	t.Helper()
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: time.Minute}, "tcp", srv.TLSAddr(), config)
	if err != nil {
		return err
	}
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
	_, err = conn.Write([]byte("ruok"))
	if err == nil {
		_, err = conn.Read(make([]byte, 1))
	}
	return err
}

// requireRejected requires that the server has refused the handshake. The text
// of the refusal depends on the version of TLS.
func requireRejected(t *testing.T, err error) {
	t.Helper()
	require.ErrorContains(t, err, "remote error: tls: ")
}

func TestTLSIsMutual(t *testing.T) {
	kept := ownPath()
	srv := Borrow(t, WithTLS(tls.RequireAndVerifyClientCert))
	conn := connectTLS(t, srv.ClientTLS(), srv.TLSAddr())
	create(t, conn, kept)
	requireData(t, connect(t, srv.Addr()), kept)

	require.NoError(t, srv.Restart())
	requireData(t, conn, kept)

	anonymous := srv.ClientTLS()
	anonymous.Certificates = nil
	requireRejected(t, tryHandshake(t, srv, anonymous))
	require.NoError(t, tryHandshake(t, srv, srv.ClientTLS()))
}

func TestTLSWithoutClientCertificates(t *testing.T) {
	for _, auth := range []tls.ClientAuthType{tls.NoClientCert, tls.VerifyClientCertIfGiven} {
		srv := Borrow(t, WithTLS(auth))
		anonymous := srv.ClientTLS()
		anonymous.Certificates = nil
		create(t, connectTLS(t, anonymous, srv.TLSAddr()), ownPath())
		create(t, connectTLS(t, srv.ClientTLS(), srv.TLSAddr()), ownPath())
	}
}

// A standalone server opens its TLS port after the other port, which serves
// already.
func TestStartWaitsForTLS(t *testing.T) {
	srv := Borrow(t, WithTLS(tls.RequireAndVerifyClientCert))
	require.NoError(t, srv.checkServing(t.Context()))

	defer func(own member) { srv.member = own }(srv.member)
	closed, err := reservePorts(1)
	require.NoError(t, err)
	defer releasePorts(closed)
	srv.member.secure = closed[0]
	require.ErrorIs(t, srv.checkServing(t.Context()), syscall.ECONNREFUSED)

	srv.member.secure = Borrow(t, WithTLS(tls.NoClientCert)).member.secure
	var unknown *tls.CertificateVerificationError
	require.ErrorAs(t, srv.checkServing(t.Context()), &unknown)
}

func TestTLSOfAnEnsemble(t *testing.T) {
	t.Parallel()
	e := StartEnsemble(t, 3, WithTLS(tls.RequireAndVerifyClientCert))
	conn := connectTLS(t, e.Members()[0].ClientTLS(), e.Members()[0].TLSAddr())
	create(t, conn, "/n")
	other := connectTLS(t, e.Members()[1].ClientTLS(), e.Members()[2].TLSAddr())
	waitCaughtUp(t, other)
	requireData(t, other, "/n")
}
