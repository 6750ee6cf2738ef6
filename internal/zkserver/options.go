package zkserver

import (
	"crypto/tls"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Option changes how a server, or every server of an ensemble, is set up. The
// start fails if ZooKeeper or Java refuses a value.
type Option func(*config)

// config is the result of all options. It does not change once newConfig has
// returned it.
type config struct {
	tick                   time.Duration
	minSession, maxSession time.Duration
	initLimit, syncLimit   int                 // ticks
	properties             map[string]string   // override every other key
	jvmFlags               []string            // follow our own flags
	sequences              []sequence          // nodes to make
	links                  bool                // see WithLinks
	tlsAuth                *tls.ClientAuthType // nil: no TLS
	certificates           *certificates       // nil without TLS
}

func newConfig(opts []Option) (config, error) {
	c := readOptions(opts)
	if c.tlsAuth == nil {
		return c, nil
	}
	var err error
	if c.certificates, err = newCertificates(); err != nil {
		err = fmt.Errorf("zkserver: certificates: %w", err)
	}
	return c, err
}

// defaultLimit is the default of WithInitLimit and WithSyncLimit, in ticks.
const defaultLimit = 100

// startTimeout bounds how long a start or a restart waits until the server
// serves.
const startTimeout = 2 * time.Minute

// readOptions is newConfig without the certificates.
func readOptions(opts []Option) config {
	c := config{
		tick:       100 * time.Millisecond,
		maxSession: time.Minute,
		initLimit:  defaultLimit,
		syncLimit:  defaultLimit,
		properties: map[string]string{},
	}
	for _, opt := range opts {
		opt(&c)
	}
	if c.minSession == 0 {
		c.minSession = 2 * c.tick
	}
	return c
}

// WithTick sets ZooKeeper's unit of time. Sessions expire up to one tick late.
// [WithInitLimit] and [WithSyncLimit] count in ticks, so a longer tick makes
// the servers of an ensemble wait longer for each other. The default is 100 ms.
func WithTick(d time.Duration) Option {
	return func(c *config) { c.tick = d }
}

// WithSessionTimeouts sets the range of session timeouts that clients can
// negotiate. The default is from two ticks to one minute.
func WithSessionTimeouts(shortest, longest time.Duration) Option {
	return func(c *config) { c.minSession, c.maxSession = shortest, longest }
}

// WithInitLimit sets how many ticks a follower has to connect to its leader and
// to catch up. The default is 100, which is 10 s at the default tick. It must
// be at least 1. The option has no effect on a standalone server.
func WithInitLimit(ticks int) Option {
	return func(c *config) { c.initLimit = ticks }
}

// WithSyncLimit sets how many ticks the servers of an ensemble tolerate silence of
// their peers:
//
//   - A follower that does not hear from its leader for that long gives it up,
//     and drops its clients.
//   - A leader that does not hear from a majority for that long steps down.
//
// The default is 100, which is 10 s at the default tick: a server on a busy
// machine may be silent for seconds without being dead. It must be at least 1.
// The option has no effect on a standalone server.
func WithSyncLimit(ticks int) Option {
	return func(c *config) { c.syncLimit = ticks }
}

// WithContainerCheckInterval sets how often the server looks for empty
// container nodes and for TTL nodes whose time is over. The default is
// ZooKeeper's, one minute.
func WithContainerCheckInterval(d time.Duration) Option {
	// The server reads this interval as a system property with a bare name.
	// No key of zoo.cfg becomes such a property.
	return WithJVMFlags("-Dznode.container.checkIntervalMs=" + millis(d))
}

// WithProperty sets a key of zoo.cfg. It overrides every other option and every
// default of this package, including addresses and directories. ZooKeeper makes
// a system property of a key that it does not know, and puts "zookeeper."
// before it.
func WithProperty(key, value string) Option {
	return func(c *config) { c.properties[key] = value }
}

// WithJVMFlags adds flags for java. They follow the flags of this package, and
// so override them. A flag that Java does not know fails the start.
func WithJVMFlags(flags ...string) Option {
	return func(c *config) { c.jvmFlags = append(slices.Clip(c.jvmFlags), flags...) }
}

func millis(d time.Duration) string {
	return strconv.FormatInt(d.Milliseconds(), 10)
}
