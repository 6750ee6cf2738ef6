package zkserver

import (
	"crypto/tls"
	"fmt"
	"maps"
	"strconv"
	"time"
)

// Option changes how a server, or every server of an ensemble, is set up.
type Option func(*config)

// config is what the options add up to. It is immutable once newConfig has returned it.
type config struct {
	tick                   time.Duration
	minSession, maxSession time.Duration // minSession 0: two ticks
	initTimeout            time.Duration
	syncTimeout            time.Duration
	startTimeout           time.Duration
	ttlNodes               bool
	properties             map[string]string   // what the user set; wins over everything else in zoo.cfg
	jvmFlags               []string            // what the user set; follows our flags, and so wins
	distribution           *Distribution       // nil: Find
	sequences              []sequence          // of nodes that are there from the beginning
	links                  bool                // the members of an ensemble are linked through this program
	tlsAuth                *tls.ClientAuthType // nil: no TLS
	certificates           *certificates       // of this run, if it has TLS
}

func newConfig(opts []Option) (config, error) {
	c := config{
		tick:         100 * time.Millisecond,
		maxSession:   time.Minute,
		initTimeout:  10 * time.Second,
		syncTimeout:  10 * time.Second,
		startTimeout: 2 * time.Minute,
		ttlNodes:     true,
		properties:   map[string]string{},
	}
	for _, opt := range opts {
		opt(&c)
	}
	if c.minSession == 0 {
		c.minSession = 2 * c.tick
	}
	if err := c.validate(); err != nil || c.tlsAuth == nil {
		return c, err
	}
	var err error
	if c.certificates, err = newCertificates(); err != nil {
		err = fmt.Errorf("zkserver: certificates: %w", err)
	}
	return c, err
}

func (c *config) validate() error {
	switch {
	case c.tick < time.Millisecond:
		return fmt.Errorf("zkserver: tick of %v: at least 1ms is needed", c.tick)
	case c.minSession < time.Millisecond || c.maxSession < c.minSession:
		return fmt.Errorf("zkserver: session timeouts from %v to %v: not a range", c.minSession, c.maxSession)
	case c.initTimeout < c.tick || c.syncTimeout < c.tick:
		return fmt.Errorf("zkserver: quorum timeouts %v and %v: shorter than the tick of %v", c.initTimeout, c.syncTimeout, c.tick)
	case c.startTimeout <= 0:
		return fmt.Errorf("zkserver: start timeout of %v: not positive", c.startTimeout)
	case c.tlsAuth != nil && clientAuth[*c.tlsAuth] == "":
		return fmt.Errorf("zkserver: TLS client authentication %v: ZooKeeper knows nothing like it", *c.tlsAuth)
	}
	for _, s := range c.sequences {
		if err := s.validate(); err != nil {
			return err
		}
	}
	return nil
}

// ticks returns how often the tick fits into d, rounded up: zoo.cfg counts the quorum's timeouts in ticks.
func (c *config) ticks(d time.Duration) string {
	return strconv.FormatInt(int64((d+c.tick-1)/c.tick), 10)
}

// WithTick sets ZooKeeper's unit of time. It is also the grain in which sessions expire: one expires up to a tick late.
// The default is 100 ms.
func WithTick(d time.Duration) Option {
	return func(c *config) { c.tick = d }
}

// WithSessionTimeouts sets the bounds between which a client can negotiate the timeout of its session. The default is two
// ticks to one minute.
func WithSessionTimeouts(shortest, longest time.Duration) Option {
	return func(c *config) { c.minSession, c.maxSession = shortest, longest }
}

// WithQuorumTimeouts sets how long the servers of an ensemble wait for one another: initial, while a follower connects to its
// leader and catches up, and sync, after which a silent peer is given up. The default is 10 s for both: on a busy machine
// a server may be silent for seconds without being dead. It has no effect on a standalone server.
func WithQuorumTimeouts(initial, sync time.Duration) Option {
	return func(c *config) { c.initTimeout, c.syncTimeout = initial, sync }
}

// WithStartTimeout bounds how long a start or a restart waits until the server serves. The default is two minutes.
func WithStartTimeout(d time.Duration) Option {
	return func(c *config) { c.startTimeout = d }
}

// WithTTLNodes says whether clients may create TTL nodes. The default is that they may.
func WithTTLNodes(enabled bool) Option {
	return func(c *config) { c.ttlNodes = enabled }
}

// WithContainerCheckInterval sets how often the server looks for empty container nodes and for TTL nodes whose time is up.
// The default is ZooKeeper's, one minute.
func WithContainerCheckInterval(d time.Duration) Option {
	// The server reads this one as a system property under its bare name, which no key of zoo.cfg can produce.
	return WithJVMFlags("-Dznode.container.checkIntervalMs=" + millis(d))
}

// WithSnapCount sets after how many transactions, about, the server takes a snapshot. The default is ZooKeeper's, 100,000.
func WithSnapCount(n int) Option {
	return WithProperty("snapCount", strconv.Itoa(n))
}

// WithProperty sets a key of zoo.cfg. It wins over every other option and over the defaults of this package, addresses and
// directories included.
func WithProperty(key, value string) Option {
	return func(c *config) {
		c.properties = maps.Clone(c.properties)
		c.properties[key] = value
	}
}

// WithJVMFlags adds flags for java, after those that this package sets, so that they win.
func WithJVMFlags(flags ...string) Option {
	return func(c *config) { c.jvmFlags = append(c.jvmFlags[:len(c.jvmFlags):len(c.jvmFlags)], flags...) }
}

// WithDistribution runs the servers from d. The default is what [Find] finds.
func WithDistribution(d *Distribution) Option {
	return func(c *config) { c.distribution = d }
}

func millis(d time.Duration) string {
	return strconv.FormatInt(d.Milliseconds(), 10)
}
