package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// authority issues certificates.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	a := &authority{t: t, key: key, cert: &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: start.Add(-time.Hour), NotAfter: start.Add(1000 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}}
	raw, err := x509.CreateCertificate(rand.Reader, a.cert, a.cert, key.Public(), key)
	require.NoError(t, err)
	a.cert, err = x509.ParseCertificate(raw)
	require.NoError(t, err)
	return a
}

// issue returns a certificate for an address, and its key, both in PEM.
func (a *authority) issue(address string) (cert, key []byte) {
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(a.t, err)
	raw, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(2), NotBefore: a.cert.NotBefore, NotAfter: a.cert.NotAfter,
		IPAddresses: []net.IP{net.ParseIP(address)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, a.cert, own.Public(), a.key)
	require.NoError(a.t, err)
	der, err := x509.MarshalPKCS8PrivateKey(own)
	require.NoError(a.t, err)
	return inPEM("CERTIFICATE", raw), inPEM("PRIVATE KEY", der)
}

func (a *authority) pem() []byte { return inPEM("CERTIFICATE", a.cert.Raw) }

func inPEM(kind string, raw []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: raw})
}

// secured is a server that speaks TLS: with certificates of one authority, and
// for clients of another one.
type secured struct {
	mu           sync.Mutex // protects the following fields
	own, clients *authority
	address      string // in the server's certificate
}

// change changes something of it.
func (x *secured) change(f func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	f()
}

func newSecured(t *testing.T) *secured {
	return &secured{own: newAuthority(t), clients: newAuthority(t), address: "127.0.0.1"}
}

// serve makes zklock reach the server through TLS, as it is when zklock connects.
func (x *secured) serve(t *testing.T, s *stand) {
	s.dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		x.mu.Lock()
		own, clients, named := x.own, x.clients, x.address
		x.mu.Unlock()
		cert, key := own.issue(named)
		pair, err := tls.X509KeyPair(cert, key)
		require.NoError(t, err)
		roots := x509.NewCertPool()
		roots.AddCert(clients.cert)
		back, err := s.dialServer(ctx, network)
		if err != nil {
			return nil, err
		}
		client, pipe := net.Pipe()
		server := newUnblocked(pipe)
		front := tls.Server(server, &tls.Config{
			Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: roots,
		})
		for to, from := range map[net.Conn]net.Conn{back: front, front: back} {
			go func() {
				_, _ = io.Copy(to, from)
				server.Close()
				back.Close()
			}()
		}
		return client, nil
	}
}

// unblocked is a connection whose writes do not wait for the reader: both sides of
// a handshake that fails write at once.
type unblocked struct {
	net.Conn
	unread chan []byte
	closed context.Context
	close  context.CancelFunc
}

func newUnblocked(c net.Conn) *unblocked {
	u := &unblocked{Conn: c, unread: make(chan []byte, 1000)}
	u.closed, u.close = context.WithCancel(context.Background())
	go func() {
		for {
			select {
			case p := <-u.unread:
				_, _ = c.Write(p)
			case <-u.closed.Done():
				return
			}
		}
	}()
	return u
}

func (u *unblocked) Write(p []byte) (int, error) {
	u.unread <- bytes.Clone(p)
	return len(p), nil
}

func (u *unblocked) Close() error {
	u.close()
	return u.Conn.Close()
}

// The file of a flag changes while zklock leads, and so does what the server asks
// for. zklock loses its leadership, and leads again with what the file says now.
func TestFilesAreReadAgain(t *testing.T) {
	for flag, renew := range map[string]func(t *testing.T, s *stand, x *secured, write func(name string, data []byte)){
		"--tls-ca": func(t *testing.T, s *stand, x *secured, write func(string, []byte)) {
			renewed := newAuthority(t)
			x.change(func() { x.own = renewed })
			write("ca", renewed.pem())
			s.expire(t, "/el")
		},
		"--tls-cert and --tls-key": func(t *testing.T, s *stand, x *secured, write func(string, []byte)) {
			renewed := newAuthority(t)
			x.change(func() { x.clients = renewed })
			cert, key := renewed.issue("10.0.0.1")
			write("cert", cert)
			write("key", key)
			s.expire(t, "/el")
		},
		"--auth-file": func(t *testing.T, s *stand, _ *secured, write func(string, []byte)) {
			c := s.client(t, framework.WithAuth("digest", []byte("joe:old")))
			_, err := c.SetACL(t.Context(), "/el", zk.DigestACL(zk.PermAll, "joe", "new"), framework.AnyVersion)
			require.NoError(t, err)
			write("auth", []byte("digest:joe:new\n"))
			time.Sleep(time.Second) // from then on, a leader watches its node
			s.lose(t, "/el")        // without a new connection
		},
	} {
		t.Run(flag, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				dir := t.TempDir()
				write := func(name string, data []byte) {
					require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
				}
				s, x := newStand(t), newSecured(t)
				x.serve(t, s)
				write("ca", x.own.pem())
				cert, key := x.clients.issue("10.0.0.1")
				write("cert", cert)
				write("key", key)
				write("auth", []byte("digest:joe:old\n"))
				c := s.client(t, framework.WithAuth("digest", []byte("joe:old")))
				_, err := c.Create(t.Context(), "/el", nil, framework.WithACL(zk.DigestACL(zk.PermAll, "joe", "old")))
				require.NoError(t, err)
				r := s.start(t, "--tls-ca", dir+"/ca", "--tls-cert", dir+"/cert", "--tls-key", dir+"/key",
					"--auth-file", dir+"/auth", "elect", "--restart", "/el", "cmd")
				p := r.command()

				renew(t, s, x, write)
				require.Equal(t, "TERM", <-p.got)
				p.end(0)
				p = r.command()
				r.signal(1)
				p.end(0)
				r.finish(0)
			})
		})
	}
}

// The password is read for each connection, and no output has it.
func TestSASLPasswordIsReadAgain(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t, zktest.WithSASLUser("joe", "open sesame "), zkinside.With(zkinside.Settings{RequiredSASL: true}).(zktest.Option))
		password := filepath.Join(t.TempDir(), "password")
		write := func(text string) { require.NoError(t, os.WriteFile(password, []byte(text), 0o600)) }
		for text, want := range map[string]bool{
			"open sesame ": true, "open sesame \n": true, "open sesame \r\nmore\n": true, "open sesame": false, "": false,
		} {
			write(text)
			got := s.zklock(t, "--sasl-user", "joe", "--sasl-password-file", password, "show", "/private")
			require.Equal(t, want, got.status != noRights, "%q: %d %s", text, got.status, got.err)
			if !want {
				require.Contains(t, got.err, `SASL DIGEST-MD5 as "joe": the server refused (-124)`)
			}
			require.NotContains(t, got.out+got.err, "sesame")
		}
		write("open sesame \n")
		r := s.start(t, "--sasl-user", "joe", "--sasl-password-file", password, "elect", "--restart", "/el", "cmd")
		p := r.command()
		write("wrong\n")
		s.CutAll()
		require.Equal(t, "TERM", <-p.got)
		p.end(0)
		r.finish(noRights)
	})
}

// A file that was not renewed is the reason why zklock does not lead again, and
// "queueing again" names it. A certificate of another server is refused.
func TestStandingAgainNamesTheLastConnectionError(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, x := newStand(t), newSecured(t)
		x.serve(t, s)
		dir := t.TempDir()
		cert, key := x.clients.issue("10.0.0.1")
		for name, data := range map[string][]byte{"ca": x.own.pem(), "cert": cert, "key": key} {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
		}
		flags := []string{"--tls-ca", dir + "/ca", "--tls-cert", dir + "/cert", "--tls-key", dir + "/key"}
		r := s.start(t, append(flags, "elect", "--restart", "/el", "cmd")...)
		p := r.command()
		x.change(func() { x.address = "127.0.0.2" })
		s.CutAll()
		require.Equal(t, "TERM", <-p.got)
		p.end(0)
		time.Sleep(pause / 2)
		require.Regexp(t, `^zklock: queueing again: lost /el: .*; there is no connection: .*certificate.* 127.0.0.1`, r.err.String())
		x.change(func() { x.address = "127.0.0.1" })
		p = r.command()
		r.signal(1)
		p.end(0)
		r.finish(0)
	})
}

// Credentials are what the file says: a byte order mark is not of the scheme,
// and blanks at the end are of the password.
func TestAuthFileIsReadToTheByte(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		c := s.client(t, framework.WithAuth("digest", []byte("joe:secret \t")))
		_, err := c.Create(t.Context(), "/private", nil, framework.WithACL(zk.DigestACL(zk.PermAll, "joe", "secret \t")))
		require.NoError(t, err)
		auth := filepath.Join(t.TempDir(), "auth")
		for text, want := range map[string]string{
			"digest:joe:secret \t":                               "free",
			"\ufeff# joe's\r\n\r\n  digest:joe:secret \t\r\n \n": "free",
			"\ufeffdigest:joe:secret \t\n":                       "free",
			"digest:joe:secret":                                  "unreadable",
		} {
			require.NoError(t, os.WriteFile(auth, []byte(text), 0o600))
			got := s.zklock(t, "--auth-file", auth, "show", "/private")
			require.Zero(t, got.status, got.err)
			require.Contains(t, got.out, "/private  "+want, "%q", text)
		}
	})
}
