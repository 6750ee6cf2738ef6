package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/gocurator/curator/framework"
)

// login is a line of the file of --auth-file.
type login struct{ scheme, secret string }

// credentials are what a client logs in with. The file of --auth-file is read
// again with each connection and each candidacy, so that a password can be changed
// while zklock runs.
type credentials struct {
	file string
	err  io.Writer

	mu      sync.Mutex // protects the following fields
	known   []login    // what the client logs in with, and what a server has refused
	client  *framework.Client
	failed  string // the last error that was told
	logging bool   // a goroutine of onConnection is there
}

// serve says that a client is there that has logged in with what is known.
func (k *credentials) serve(c *framework.Client) {
	if k != nil {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.client = c
	}
}

// onConnection has the client log in with what is new in the file, once the
// connection that is made now is there. One goroutine does so, however many attempts
// to connect there are in an outage.
func (k *credentials) onConnection() {
	c, added := k.added()
	if len(added) == 0 || !k.beginLogging() {
		return
	}
	framework.Extend(c).Go(func(ctx context.Context) {
		defer k.endLogging()
		if err := k.add(ctx, c, added); framework.IsRefusal(err) {
			fmt.Fprintln(k.err, "zklock: --auth-file:", err)
		}
	})
}

func (k *credentials) beginLogging() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	begun := !k.logging
	k.logging = true
	return begun
}

func (k *credentials) endLogging() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.logging = false
}

// renew has the client log in with what is new in the file. Without a client it
// does nothing.
func (k *credentials) renew(ctx context.Context) error {
	if k == nil {
		return nil
	}
	c, added := k.added()
	return k.add(ctx, c, added)
}

// added returns the logins of the file that are not known. If the file cannot be
// used, added reports that once, and the known logins stay.
func (k *credentials) added() (c *framework.Client, added []login) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.file == "" || k.client == nil { // or the client is being made
		return nil, nil
	}
	all, err := readAuth(k.file)
	if err != nil {
		if k.failed != err.Error() {
			fmt.Fprintln(k.err, "zklock:", err)
		}
		k.failed = err.Error()
		return nil, nil
	}
	k.failed = ""
	return k.client, slices.DeleteFunc(all, func(l login) bool { return slices.Contains(k.known, l) })
}

// add has the client log in. A server ends the connection with which it refuses a
// login. So that login is known from then on, and not tried again: zklock would never
// have a connection for long.
func (k *credentials) add(ctx context.Context, c *framework.Client, added []login) error {
	for _, l := range added {
		err := c.AddAuth(ctx, l.scheme, []byte(l.secret))
		if err == nil || framework.IsRefusal(err) {
			k.mu.Lock()
			k.known = append(k.known, l)
			k.mu.Unlock()
		}
		if err != nil {
			return fmt.Errorf("scheme %q: %w", l.scheme, err)
		}
	}
	return nil
}

// readAuth reads a file with lines such as "digest:user:password". Empty lines,
// and those that begin with #, are comments. A password may end with blanks.
func readAuth(name string) ([]login, error) {
	if name == "" {
		return nil, nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, usagef("--auth-file: %w", err)
	}
	var all []login
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // a byte order mark is no part of a scheme
	lines := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimLeftFunc(lines.Text(), unicode.IsSpace)
		if line == "" || line[0] == '#' {
			continue
		}
		scheme, secret, ok := strings.Cut(line, ":")
		if !ok || scheme == "" {
			// The line is not shown: it may be a password.
			return nil, usagef("--auth-file: line %d of %s is not scheme:credentials", n, name)
		}
		all = append(all, login{scheme, secret})
	}
	if err := lines.Err(); err != nil {
		return nil, usagef("--auth-file: %s: %w", name, err)
	}
	return all, nil
}

// tlsFiles are the values of the flags for TLS.
type tlsFiles struct{ ca, cert, key, serverName string }

// config reads the files of the flags for TLS. The configuration is nil if no flag
// asks for TLS.
func (f tlsFiles) config() (*tls.Config, error) {
	if f == (tlsFiles{}) {
		return nil, nil
	}
	cfg := &tls.Config{ServerName: f.serverName, MinVersion: tls.VersionTLS12}
	if f.ca != "" {
		pem, err := os.ReadFile(f.ca)
		if err != nil {
			return nil, usagef("--tls-ca: %w", err)
		}
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(pem) {
			return nil, usagef("--tls-ca: %s has no certificate in PEM", f.ca)
		}
	}
	if f.cert != "" || f.key != "" {
		pair, err := tls.LoadX509KeyPair(f.cert, f.key)
		if err != nil {
			return nil, usagef("--tls-cert, --tls-key: %w", err)
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	return cfg, nil
}

// dialer returns what connects a client. It reads the files of all flags again for
// each connection: a certificate that is renewed on disk counts from then on.
func (e *env) dialer(k *credentials) framework.DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		k.onConnection()
		cfg, err := e.tls.config()
		if err != nil {
			return nil, err
		}
		conn, err := e.dial(ctx, network, address)
		if err != nil || cfg == nil {
			return conn, err
		}
		host, _, _ := net.SplitHostPort(address) // it has a port: it was dialed
		cfg.ServerName = cmp.Or(cfg.ServerName, host)
		secure := tls.Client(conn, cfg)
		if err := secure.HandshakeContext(ctx); err != nil {
			conn.Close()
			return nil, fmt.Errorf("tls handshake with %s: %w", address, err)
		}
		return tlsConn{secure, conn}, nil
	}
}

// tlsConn is closed without TLS's closing alert, which takes seconds if the server
// does not read.
type tlsConn struct {
	*tls.Conn
	below net.Conn
}

// Close implements net.Conn.
func (c tlsConn) Close() error { return c.below.Close() }
