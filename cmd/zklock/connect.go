package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/semconv"
)

// connect returns a client that has a connection and a session. The caller closes the
// client. opts override the settings.
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

// throughOutages calls do again with the next connection as long as do fails for lack
// of a connection, until ctx ends. If there is no connection then, the error names the
// cause.
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
	var err error
	if e.logins, err = readAuth(e.authFile); err != nil {
		return nil, err
	}
	for _, l := range e.logins {
		opts = append(opts, framework.WithAuth(l.scheme, []byte(l.secret)))
	}
	if e.sasl != (saslUser{}) {
		if _, err := e.sasl.mechanism(); err != nil {
			return nil, err
		}
		opts = append(opts, framework.WithSASL(e.sasl))
	}
	if _, err := e.tls.config(); err != nil {
		return nil, err
	}
	return append(opts, framework.WithDialer(e.dialSecured)), nil
}

// logger writes the client's log to stderr with -v. Without -v, the logger writes only
// the warning that the lock does not exclude all contenders.
func (e *env) logger() *slog.Logger {
	h := slog.NewTextHandler(e.err, &slog.HandlerOptions{Level: slog.LevelInfo})
	if e.verbose {
		return slog.New(h)
	}
	return slog.New(warnings{h})
}

// warnings is a handler of the lines that every user of zklock must see.
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
