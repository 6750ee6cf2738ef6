//go:build real

package zkserver

import (
	"crypto/tls"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

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
