package zkserver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"time"
)

// certificates are created for each Run: an authority, whose key is dropped at once,
// and the certificates that the authority has signed.
type certificates struct {
	authority *x509.Certificate
	serverPEM []byte // certificate and key
	clientKey tls.Certificate
}

func newCertificates() (*certificates, error) {
	root, rootKey, err := newAuthority()
	if err != nil {
		return nil, err
	}
	c := &certificates{authority: root}
	server, err := sign(root, rootKey, "zkserver", x509.ExtKeyUsageServerAuth)
	if err != nil {
		return nil, err
	}
	if c.serverPEM, err = toPEM(server); err != nil {
		return nil, err
	}
	c.clientKey, err = sign(root, rootKey, "client", x509.ExtKeyUsageClientAuth)
	return c, err
}

// client returns the configuration of a client.
func (c *certificates) client() *tls.Config {
	roots := x509.NewCertPool()
	roots.AddCert(c.authority)
	return &tls.Config{
		RootCAs:      roots,
		Certificates: []tls.Certificate{c.clientKey},
		MinVersion:   tls.VersionTLS12,
	}
}

func (c *certificates) authorityPEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.authority.Raw})
}

func newAuthority() (*x509.Certificate, *ecdsa.PrivateKey, error) {
	template, err := template("zkserver test authority")
	if err != nil {
		return nil, nil, err
	}
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.KeyUsage = x509.KeyUsageCertSign
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, nil, err
	}
	root, err := x509.ParseCertificate(der)
	return root, key, err
}

// sign makes a key and a certificate for the addresses that servers listen on.
// The clients' certificate names these addresses, too, because some versions of
// ZooKeeper check the address of a client.
func sign(
	root *x509.Certificate, rootKey *ecdsa.PrivateKey, name string, usage x509.ExtKeyUsage,
) (tls.Certificate, error) {
	template, err := template(name)
	if err != nil {
		return tls.Certificate{}, err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{usage}
	template.DNSNames = []string{"localhost"}
	template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, root, key.Public(), rootKey)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

// template returns a certificate that is valid from half a day ago for a day,
// so that clocks may differ, such as one in a container.
func template(name string) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    time.Now().Add(-12 * time.Hour),
		NotAfter:     time.Now().Add(12 * time.Hour),
	}, nil
}

// toPEM encodes a key and its certificate. The key comes first, in PKCS #8,
// which is the one form that ZooKeeper reads.
func toPEM(c tls.Certificate) ([]byte, error) {
	key, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	if err != nil {
		return nil, err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})
	return append(text, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate[0]})...), nil
}
