package framework

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"net"
	"strconv"
	"time"

	"github.com/gocurator/curator/retry"
	"github.com/gocurator/curator/state"
)

// Option configures a Client.
type Option func(*config)

// DialFunc opens a connection to an address of the connection string. It must return soon after ctx ends.
// (*net.Dialer).DialContext is one, and so is the Dialer of a zktest server.
type DialFunc func(ctx context.Context, network, address string) (net.Conn, error)

type config struct {
	sessionTimeout    time.Duration
	connectionTimeout time.Duration
	dial              DialFunc
	retry             retry.Policy
	policy            state.ErrorPolicy
	logger            *slog.Logger
	aclProvider       aclProvider // nil: everyone may do everything
	ephemerals        *ephemerals // plain ephemeral nodes that are being created
}

func defaultConfig() config {
	return config{
		sessionTimeout:    15 * time.Second,
		connectionTimeout: 15 * time.Second,
		dial:              (&net.Dialer{}).DialContext,
		retry:             retry.BoundedExponential(100*time.Millisecond, 2*time.Second, 5),
		policy:            state.SessionPolicy,
		logger:            slog.New(slog.DiscardHandler),
		ephemerals:        newEphemerals(),
	}
}

// WithSessionTimeout sets how long the server keeps the session, and with it ephemeral nodes, after the client's last
// sign of life. The server may negotiate another value: by default it allows 2 to 20 of its ticks. The default is 15
// seconds; less than 10 milliseconds is an error.
//
// A crashed holder blocks its lock for this long. A shorter timeout frees locks sooner and loses more sessions to
// pauses of the process or of the network.
func WithSessionTimeout(d time.Duration) Option {
	return func(c *config) { c.sessionTimeout = d }
}

// WithConnectionTimeout sets how long an operation waits for a connection before it fails with ErrNotConnected.
// The default is 15 seconds. The operation's context ends the wait sooner.
func WithConnectionTimeout(d time.Duration) Option {
	return func(c *config) { c.connectionTimeout = d }
}

// WithDialer sets how connections are made, for TLS, proxies or tests. The default is a net.Dialer, which resolves
// names anew for each attempt.
func WithDialer(dial DialFunc) Option {
	return func(c *config) { c.dial = dial }
}

// WithRetry sets how operations that failed for want of a connection are tried again.
// The default is retry.BoundedExponential(100 ms, 2 s, 5).
func WithRetry(p retry.Policy) Option {
	return func(c *config) { c.retry = p }
}

// WithErrorPolicy says in which states recipes must consider their locks lost. The default is state.SessionPolicy.
func WithErrorPolicy(p state.ErrorPolicy) Option {
	return func(c *config) { c.policy = p }
}

// WithLogger sets where state changes (level Info) and the client library's messages (level Debug) go.
// The default discards them.
func WithLogger(l *slog.Logger) Option {
	return func(c *config) { c.logger = l }
}

// ConfigError says which argument or option of New cannot be used, and why.
type ConfigError struct {
	Name   string // of the argument or option
	Value  string
	Reason string
}

// Error returns a sentence such as: framework: invalid session timeout "0s": must be at least 10ms.
func (e *ConfigError) Error() string {
	return fmt.Sprintf("framework: invalid %s %q: %s", e.Name, e.Value, e.Reason)
}

const minSessionTimeout = 10 * time.Millisecond

func (c *config) validate() error {
	const maxSessionTimeout = math.MaxInt32 * time.Millisecond // what the protocol can carry
	switch {
	case c.sessionTimeout < minSessionTimeout:
		return &ConfigError{"session timeout", c.sessionTimeout.String(), "must be at least " + minSessionTimeout.String()}
	case c.sessionTimeout > maxSessionTimeout:
		return &ConfigError{"session timeout", c.sessionTimeout.String(), "must be at most " + maxSessionTimeout.String()}
	case c.connectionTimeout <= 0:
		return &ConfigError{"connection timeout", c.connectionTimeout.String(), "must be positive"}
	case c.dial == nil:
		return &ConfigError{"dialer", "nil", "must not be nil"}
	case c.retry == nil:
		return &ConfigError{"retry policy", "nil", "must not be nil; use retry.None to never retry"}
	case c.policy != state.SessionPolicy && c.policy != state.StandardPolicy:
		return &ConfigError{"error policy", strconv.Itoa(int(c.policy)), "must be state.SessionPolicy or state.StandardPolicy"}
	case c.logger == nil:
		return &ConfigError{"logger", "nil", "must not be nil; leave the option out to discard"}
	}
	return nil
}
