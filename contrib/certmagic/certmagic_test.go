package certmagic_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"sync"
	"testing"
	"time"

	"github.com/caddyserver/certmagic"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/gocurator/curator/testing/zktest"
)

// authority is a certmagic.Issuer.
type authority struct {
	cert    *x509.Certificate
	key     crypto.Signer
	onIssue func(ctx context.Context) // called for each certificate that is asked for

	mu     sync.Mutex
	issued int64
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	cert := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now(), NotAfter: time.Now().Add(10 * 365 * 24 * time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, key.Public(), key)
	require.NoError(t, err)
	cert, err = x509.ParseCertificate(der)
	require.NoError(t, err)
	return &authority{cert: cert, key: key, onIssue: func(context.Context) {}}
}

func (a *authority) IssuerKey() string { return "test" }

func (a *authority) Issue(ctx context.Context, request *x509.CertificateRequest) (*certmagic.IssuedCertificate, error) {
	a.mu.Lock()
	a.issued++
	serial := a.issued
	a.mu.Unlock()
	a.onIssue(ctx)
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(serial), DNSNames: request.DNSNames,
		NotBefore: time.Now(), NotAfter: time.Now().Add(90 * 24 * time.Hour),
	}, a.cert, request.PublicKey, a.key)
	if err != nil {
		return nil, err
	}
	return &certmagic.IssuedCertificate{Certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}, nil
}

func (a *authority) count() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.issued
}

// configOf returns what a program that uses certmagic has.
func configOf(t *testing.T, s certmagic.Storage, issuer certmagic.Issuer) *certmagic.Config {
	t.Helper()
	var cfg *certmagic.Config
	cache := certmagic.NewCache(certmagic.CacheOptions{
		GetConfigForCert: func(certmagic.Certificate) (*certmagic.Config, error) { return cfg, nil },
		Logger:           zap.NewNop(),
	})
	t.Cleanup(cache.Stop)
	cfg = certmagic.New(cache, certmagic.Config{
		Storage: s, Issuers: []certmagic.Issuer{issuer}, Logger: zap.NewNop(),
		OCSP: certmagic.OCSPConfig{DisableStapling: true},
	})
	return cfg
}

// serial returns the serial number of the certificate that a program has. That it
// can be loaded shows that it fits to its key.
func serial(t *testing.T, cfg *certmagic.Config, name string) int64 {
	t.Helper()
	cert, err := cfg.CacheManagedCertificate(bounded(t), name)
	require.NoError(t, err)
	return cert.Leaf.SerialNumber.Int64()
}

// Two programs need a certificate at the same time.
func TestCertificateIsIssuedOnce(t *testing.T) {
	for _, name := range []string{"example.com", "*.example.com", "xn--bcher-kva.example"} {
		inVirtualTime(t, func(t *testing.T, srv *zktest.Server, a, b *process) {
			issuer := newAuthority(t)
			issuer.onIssue = func(context.Context) { time.Sleep(time.Second) }
			var all sync.WaitGroup
			configs := []*certmagic.Config{configOf(t, a, issuer), configOf(t, b, issuer)}
			for _, cfg := range configs {
				all.Go(func() { assert.NoError(t, cfg.ManageSync(bounded(t), []string{name})) })
			}
			all.Wait()
			for _, cfg := range configs {
				require.EqualValues(t, 1, serial(t, cfg, name))
			}
			require.EqualValues(t, 1, issuer.count())
			require.NoError(t, certmagic.CleanStorage(bounded(t), a, certmagic.CleanStorageOptions{
				Logger: zap.NewNop(), OCSPStaples: true, ExpiredCerts: true,
			}))
			require.EqualValues(t, 1, serial(t, configOf(t, a, issuer), name))
		})
	}
}

// A program is cut off while it obtains a certificate, another one obtains it, and
// the first goes on with what it has. The certificate of the second stays, and the
// first takes it at its next attempt.
func TestLateCertificateIsNotStored(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, a, b *process) {
		issuer := newAuthority(t)
		cutOff, obtained := make(chan struct{}), make(chan struct{})
		slow := &slowAuthority{issuer, func() {
			a.host.Isolate()
			close(cutOff)
			<-obtained
			a.host.Heal()
		}}
		first, second := configOf(t, a, slow), configOf(t, b, issuer)
		done := make(chan error, 1)
		begun := time.Now()
		go func() { done <- first.ObtainCertAsync(bounded(t), "example.com") }()
		<-cutOff
		require.NoError(t, second.ObtainCertSync(bounded(t), "example.com"))
		require.EqualValues(t, 2, serial(t, second, "example.com"))
		close(obtained)
		require.NoError(t, <-done)
		require.EqualValues(t, 2, issuer.count(), "the first has not asked for one more")
		require.Less(t, time.Since(begun), 5*time.Minute)
		require.EqualValues(t, 2, serial(t, second, "example.com"))
		require.EqualValues(t, 2, serial(t, first, "example.com"))
	})
}

// A program loses its lock while it obtains a certificate, and nobody else needs
// one. It is refused, and its next attempt succeeds.
//
// Promise: A lock that was lost is acquired again before certmagic's next attempt.
func TestNextAttemptHasTheLock(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, a, b *process) {
		issuer := newAuthority(t)
		slow := &slowAuthority{issuer, func() {
			a.host.LoseSessions()
			time.Sleep(time.Minute)
		}}
		cfg := configOf(t, a, slow)
		begun := time.Now()
		require.NoError(t, cfg.ObtainCertAsync(bounded(t), "example.com"))
		require.Less(t, time.Since(begun), 5*time.Minute)
		require.EqualValues(t, 2, issuer.count())
		require.EqualValues(t, 2, serial(t, cfg, "example.com"))
		require.Empty(t, srv.Children(root+"/locks/"+certLock))
	})
}

// slowAuthority issues its first certificate after a call.
type slowAuthority struct {
	*authority
	first func()
}

func (s *slowAuthority) Issue(ctx context.Context, request *x509.CertificateRequest) (*certmagic.IssuedCertificate, error) {
	issued, err := s.authority.Issue(ctx, request)
	if s.first != nil {
		s.first()
		s.first = nil
	}
	return issued, err
}
