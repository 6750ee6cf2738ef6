package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"unicode"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/semconv"
)

// connect returns a client that has a connection and a session. The caller
// closes it. The settings come first, so that opts can overrule them.
func (e *env) connect(ctx context.Context, opts ...framework.Option) (*framework.Client, error) {
	if e.servers == "" {
		return nil, usagef("no servers: name them with -S or ZKLOCK_SERVERS")
	}
	all, err := e.clientOptions()
	if err != nil {
		return nil, err
	}
	bounded, cancel := context.WithTimeout(ctx, e.connectTimeout)
	defer cancel()
	c, err := framework.Connect(bounded, e.servers, append(all, opts...)...)
	if err != nil && ctx.Err() == nil && errors.Is(err, framework.ErrNotConnected) {
		return nil, e.noServerError(err)
	}
	return c, err
}

// noServerError is the error of a first connection that took too long.
func (e *env) noServerError(err error) error {
	return statusError{noServer, fmt.Errorf("no server of %s answered within %v: %w", e.servers, e.connectTimeout, err)}
}

// throughOutages repeats what fails for want of a connection, each time with the
// next one, until ctx ends. If there is no connection then, the error says so.
func throughOutages(ctx context.Context, c *framework.Client, do func() error) error {
	for {
		err := do()
		outage := framework.IsConnectionError(err) || ctx.Err() != nil && !c.State().IsConnected()
		if err == nil || !outage {
			return err
		}
		if err := c.WaitConnected(ctx); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return err
		}
	}
}

// clientOptions translates the common flags.
func (e *env) clientOptions() ([]framework.Option, error) {
	opts := []framework.Option{
		framework.WithSessionTimeout(e.sessionTimeout),
		framework.WithServiceName("zklock"),
	}
	if e.strict {
		opts = append(opts, framework.WithStrictContact())
	}
	opts = append(opts, framework.WithLogger(e.logger()))
	auth, err := readAuth(e.authFile)
	if err != nil {
		return nil, err
	}
	opts = append(opts, auth...)
	cfg, err := e.tls.config()
	if err != nil {
		return nil, err
	}
	if cfg != nil {
		opts = append(opts, framework.WithTLS(cfg))
	}
	return opts, nil
}

// logger writes the client's log to stderr with -v. Without it, one line is left:
// the lock does not exclude everybody.
func (e *env) logger() *slog.Logger {
	h := slog.NewTextHandler(e.err, &slog.HandlerOptions{Level: slog.LevelInfo})
	if e.verbose {
		return slog.New(h)
	}
	return slog.New(warnings{h})
}

// warnings is a handler of those lines that whoever runs zklock has to see.
type warnings struct{ slog.Handler }

func (w warnings) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

func (w warnings) Handle(ctx context.Context, r slog.Record) error {
	if r.Message != semconv.TwoRecipes {
		return nil
	}
	return w.Handler.Handle(ctx, r)
}

func (w warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warnings{w.Handler.WithAttrs(attrs)}
}

func (w warnings) WithGroup(name string) slog.Handler { return warnings{w.Handler.WithGroup(name)} }

// readAuth reads a file with lines such as "digest:user:password". Empty lines,
// and those that begin with #, are comments. A password may end with blanks.
func readAuth(name string) ([]framework.Option, error) {
	if name == "" {
		return nil, nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, usagef("--auth-file: %w", err)
	}
	var opts []framework.Option
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // a byte order mark is no part of a scheme
	lines := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimLeftFunc(lines.Text(), unicode.IsSpace)
		if line == "" || line[0] == '#' {
			continue
		}
		scheme, credentials, ok := strings.Cut(line, ":")
		if !ok || scheme == "" {
			// The line is not shown: it may be a password.
			return nil, usagef("--auth-file: line %d of %s is not scheme:credentials", n, name)
		}
		opts = append(opts, framework.WithAuth(scheme, []byte(credentials)))
	}
	if err := lines.Err(); err != nil {
		return nil, usagef("--auth-file: %s: %w", name, err)
	}
	return opts, nil
}

// tlsFiles are the values of the flags for TLS.
type tlsFiles struct{ ca, cert, key, serverName string }

// config returns the configuration of TLS, or nil if no flag asks for TLS.
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
