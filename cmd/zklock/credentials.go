package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/sasl"
)

// login is a line of the file of --auth-file.
type login struct{ scheme, secret string }

// readAuth reads a file with lines such as "digest:user:password". Empty lines and
// lines that begin with # are comments. A password may end with blanks.
func readAuth(name string) ([]login, error) {
	if name == "" {
		return nil, nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, usagef("--auth-file: %w", err)
	}
	var all []login
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // a byte order mark does not belong to the scheme
	lines := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimLeftFunc(lines.Text(), unicode.IsSpace)
		if line == "" || line[0] == '#' {
			continue
		}
		scheme, secret, ok := strings.Cut(line, ":")
		if !ok || scheme == "" {
			// The error does not show the line, which may be a password.
			return nil, usagef("--auth-file: line %d of %s is not scheme:credentials", n, name)
		}
		all = append(all, login{scheme, secret})
	}
	if err := lines.Err(); err != nil {
		return nil, usagef("--auth-file: %s: %w", name, err)
	}
	return all, nil
}

// logInAgain makes a client log in with the new lines in the file of --auth-file, so
// that a password can be changed while zklock elect --restart runs. A failed login is
// not repeated: a server that refuses a login ends the connection, so zklock would keep
// losing its connection.
func (e *env) logInAgain(ctx context.Context, c *framework.Client) error {
	all, err := readAuth(e.authFile)
	for _, l := range all {
		if slices.Contains(e.logins, l) {
			continue
		}
		e.logins = append(e.logins, l)
		if failed := c.AddAuth(ctx, l.scheme, []byte(l.secret)); failed != nil {
			err = fmt.Errorf("--auth-file: scheme %q: %w", l.scheme, failed)
		}
	}
	return err
}

// saslUser has the values of the SASL flags. As a mechanism, it reads the password for
// each connection.
type saslUser struct{ name, passwordFile string }

// mechanism reads the file of --sasl-password-file. The password is the file's first
// line.
func (u saslUser) mechanism() (sasl.Mechanism, error) {
	if u.name == "" || u.passwordFile == "" {
		return nil, usagef("give both of --sasl-user and --sasl-password-file, or neither")
	}
	data, err := os.ReadFile(u.passwordFile)
	if err != nil {
		return nil, usagef("--sasl-password-file: %w", err)
	}
	password, _, _ := strings.Cut(string(data), "\n")
	return sasl.DigestMD5(u.name, strings.TrimSuffix(password, "\r")), nil
}

// Name implements sasl.Mechanism.
func (u saslUser) Name() string { return sasl.DigestMD5(u.name, "").Name() }

// Principal implements sasl.Mechanism.
func (u saslUser) Principal() string { return u.name }

// Start implements sasl.Mechanism.
func (u saslUser) Start(ctx context.Context, server string) (sasl.Exchange, []byte, error) {
	m, err := u.mechanism()
	if err != nil {
		return nil, nil, err
	}
	return m.Start(ctx, server)
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

// dialSecured connects a client to a server. It reads the TLS files for each
// connection, so the next connection uses a renewed certificate.
func (e *env) dialSecured(ctx context.Context, network, address string) (net.Conn, error) {
	cfg, err := e.tls.config()
	if err != nil {
		return nil, err
	}
	conn, err := e.dial(ctx, network, address)
	if err != nil || cfg == nil {
		return conn, err
	}
	host, _, _ := net.SplitHostPort(address) // the address was dialed, so it has a port
	cfg.ServerName = cmp.Or(cfg.ServerName, host)
	secure := tls.Client(conn, cfg)
	if err := secure.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, fmt.Errorf("tls handshake with %s: %w", address, err)
	}
	return tlsConn{secure, conn}, nil
}

// tlsConn closes without TLS's closing alert, which takes seconds if the server does
// not read.
type tlsConn struct {
	*tls.Conn
	below net.Conn
}

// Close implements net.Conn.
func (c tlsConn) Close() error { return c.below.Close() }
