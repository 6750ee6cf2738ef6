package framework

import (
	"bytes"
	"context"
	"crypto/tls"
	"log/slog"
	"math"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/sasl"
	"github.com/gocurator/curator/internal/suspension"
	"github.com/gocurator/curator/retry"
	"github.com/gocurator/curator/state"
)

// config has the settings from the options of New. It does not change after New.
type config struct {
	sessionTimeout    time.Duration
	connectionTimeout time.Duration
	dial              DialFunc
	retry             retry.Policy
	noContainers      bool
	policy            state.ErrorPolicy
	logger            *slog.Logger
	auth              []transport.Credentials
	sasl              sasl.Mechanism // nil for none
	strictContact     bool
	maxRequest        int
	safetyMargin      float64
	tls               *tls.Config // nil for none
	servers           serversFunc // nil: use the connection string
	hooks             []any
	serviceName       string
	invalid           error                // an option with a nil argument
	aclProvider       aclProvider          // nil: everyone may do everything
	suspended         func() time.Duration // the suspend clock
}

// serversFunc is the function of WithServers.
type serversFunc = func(ctx context.Context) ([]string, error)

// aclProvider returns the access control list of a node to create, by its full
// path.
type aclProvider func(path string) []zk.ACL

// DialFunc opens a connection to an address of the connection string. A DialFunc must
// return soon after ctx ends: until then, the client has no connection and tries no
// other server, and Close waits. (*net.Dialer).DialContext and the Dialer of a zktest
// server are examples. The connection must support read deadlines, by which the client
// notices a silent server; otherwise the attempt to connect fails.
type DialFunc func(ctx context.Context, network, address string) (net.Conn, error)

func defaultConfig() config {
	return config{
		sessionTimeout:    15 * time.Second,
		connectionTimeout: 15 * time.Second,
		dial:              (&net.Dialer{}).DialContext,
		retry:             retry.Exponential(100*time.Millisecond, 2*time.Second, 5),
		policy:            state.SessionPolicy,
		logger:            slog.New(slog.DiscardHandler),
		maxRequest:        defaultMaxRequest,
		safetyMargin:      0.1,
		serviceName:       executable(),
		suspended:         suspension.Time,
	}
}

// executable returns the base name of this process's executable.
func executable() string { return filepath.Base(os.Args[0]) }

// Limits of options.
const (
	minSessionTimeout = 10 * time.Millisecond
	maxSessionTimeout = math.MaxInt32 * time.Millisecond // the protocol carries no more
	defaultMaxRequest = 0xfffff                          // jute.maxbuffer's default
	minMaxRequest     = 1 << 10
	maxSafetyMargin   = 0.5
	maxStrictMargin   = 0.25 // the limit under strict contact
)

// require records an option with a nil argument, if nil is also the option's default:
// only the option itself can distinguish the two.
func (c *config) require(name string, given bool) {
	if !given {
		c.invalid = badArgument(name, "nil", "must not be nil; leave the option out for none")
	}
}

// validate returns the error of the first option that cannot be used.
func (c *config) validate() error {
	if c.invalid != nil {
		return c.invalid
	}
	if err := c.validateFunctions(); err != nil {
		return err
	}
	timeout, margin := c.sessionTimeout.String(), strconv.FormatFloat(c.safetyMargin, 'g', -1, 64)
	switch {
	case c.sessionTimeout < minSessionTimeout:
		return badArgument("session timeout", timeout, "must be at least "+minSessionTimeout.String())
	case c.sessionTimeout > maxSessionTimeout:
		return badArgument("session timeout", timeout, "must be at most "+maxSessionTimeout.String())
	case c.connectionTimeout <= 0:
		return badArgument("connection timeout", c.connectionTimeout.String(), "must be positive")
	case c.policy != state.SessionPolicy && c.policy != state.StandardPolicy:
		return badArgument("error policy", strconv.Itoa(int(c.policy)),
			"must be state.SessionPolicy or state.StandardPolicy")
	case c.strictContact && c.safetyMargin > maxStrictMargin:
		return badArgument("safety margin", margin, "must be no more than 0.25 with strict contact")
	case c.sasl != nil && c.sasl.Principal() == "":
		return badArgument("principal of SASL "+c.sasl.Name(), "", "must not be empty")
	case c.maxRequest < minMaxRequest:
		return badArgument("max request size", strconv.Itoa(c.maxRequest),
			"must be at least "+strconv.Itoa(minMaxRequest))
	case !(c.safetyMargin >= 0 && c.safetyMargin <= maxSafetyMargin): // this form also catches NaN
		return badArgument("safety margin", margin, "must be from 0 to 0.5")
	}
	for _, cred := range c.auth {
		if err := validateCredentials(cred); err != nil {
			return err
		}
	}
	return nil
}

// validateFunctions checks the options whose default is not nil.
func (c *config) validateFunctions() error {
	switch {
	case c.dial == nil:
		return isNil("dialer")
	case c.retry == nil:
		return badArgument("retry policy", "nil", "must not be nil; use retry.None to never retry")
	case c.logger == nil:
		return badArgument("logger", "nil", "must not be nil; leave the option out to discard")
	case c.logger.Handler() == nil: // the zero Logger, which panics
		return badArgument("logger", "", "must have a handler")
	}
	return nil
}

// margin is how long before its timeout a session is given up, to allow for clocks with
// different rates and for the time that holders need to stop.
func (c *config) margin(timeout time.Duration) time.Duration {
	return time.Duration(math.Round(c.safetyMargin * float64(timeout)))
}

func validateCredentials(cred transport.Credentials) error {
	switch {
	case cred.Scheme == "":
		return badArgument("credentials of scheme", "", "must have a scheme")
	case cred.Scheme == "digest" && !bytes.ContainsRune(cred.Auth, ':'):
		return badArgument("credentials of scheme", cred.Scheme, "must be user:password")
	}
	return nil
}
