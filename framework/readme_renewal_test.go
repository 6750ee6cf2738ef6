package framework_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// The configuration in docs/PRODUCTION.md has the certificate that is on disk now.
func TestReadmeRenewal(t *testing.T) {
	t.Chdir(t.TempDir())
	tlsConfig := &tls.Config{
		ServerName: "zk.example.com",
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			pair, err := tls.LoadX509KeyPair("client.crt", "client.key")
			return &pair, err
		},
	}
	_, err := tlsConfig.GetClientCertificate(nil)
	require.ErrorIs(t, err, os.ErrNotExist)
	for n := range int64(2) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		require.NoError(t, err)
		own := &x509.Certificate{SerialNumber: big.NewInt(n)}
		cert, err := x509.CreateCertificate(rand.Reader, own, own, key.Public(), key)
		require.NoError(t, err)
		der, err := x509.MarshalPKCS8PrivateKey(key)
		require.NoError(t, err)
		for name, block := range map[string]*pem.Block{
			"client.crt": {Type: "CERTIFICATE", Bytes: cert}, "client.key": {Type: "PRIVATE KEY", Bytes: der},
		} {
			require.NoError(t, os.WriteFile(name, pem.EncodeToMemory(block), 0o600))
		}
		got, err := tlsConfig.GetClientCertificate(nil)
		require.NoError(t, err)
		require.Equal(t, cert, got.Certificate[0])
	}
}
