package zktest

import (
	"errors"
	"fmt"
	"time"
)

// Option configures a server.
type Option func(*config)

type config struct {
	tcp                    string
	minTimeout, maxTimeout time.Duration
	tick                   time.Duration
	syncLimit              int // ticks
	plan                   *ChaosPlan
	schedule               func(*Message) // nil: everything arrives at once
	ttl                    bool
	reapInterval           time.Duration
	logSize                int
	errs                   []error // what is wrong with the options
	before39               bool    // see WithVersion38
	sasl                   saslUsers
	saslRequired           bool
	keeper                 bool // see WithClickHouseKeeper
	wallClock              func() time.Time
}

// The defaults of an [Ensemble]: a tenth of what is common in production, or
// less.
const (
	defaultTick      = 100 * time.Millisecond
	defaultSyncLimit = 5
	electionTime     = 200 * time.Millisecond
)

func configured(opts []Option) (config, error) {
	cfg := config{
		wallClock:  time.Now,
		minTimeout: time.Millisecond,
		maxTimeout: 24 * 24 * time.Hour,
		syncLimit:  defaultSyncLimit,
		ttl:        true,

		reapInterval: time.Minute,
		logSize:      defaultLogSize,
	}
	for i, opt := range opts {
		if opt == nil {
			return cfg, fmt.Errorf("zktest: option %d is nil", i+1)
		}
		opt(&cfg)
	}
	if cfg.plan != nil && cfg.schedule != nil {
		cfg.reject("a chaos plan beside a scheduler")
	}
	if cfg.saslRequired && cfg.sasl == nil {
		cfg.reject("required SASL without a user")
	}
	return cfg, errors.Join(cfg.errs...)
}

// reject notes that an option makes no sense.
func (c *config) reject(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf("zktest: "+format, args...))
}

// syncTime is how long the members of an ensemble put up with each other's
// silence.
func (c *config) syncTime() time.Duration {
	const longest = Forever / 2 // callers add a tick
	if time.Duration(c.syncLimit) > longest/c.tick {
		return longest
	}
	return time.Duration(c.syncLimit) * c.tick
}

// WithTCP makes the server listen on a TCP address as well, for clients in
// other processes. Use port 0 for any free port and ask [Server.Addr] for it.
// The default is no port at all. Without a host the server listens on the
// loopback interface only, because it does not check who connects; 0.0.0.0
// stands for all interfaces. TCP does not work inside a synctest bubble.
func WithTCP(addr string) Option {
	return func(c *config) {
		if addr == "" {
			c.reject("WithTCP without an address")
		}
		c.tcp = addr
	}
}

// WithSessionTimeouts sets the bounds for the session timeouts that clients ask
// for. The default, 1 millisecond to 24 days (close to the protocol's limit),
// lets tests choose freely; a real server allows 2 to 20 of its ticks,
// typically 4 to 40 seconds.
func WithSessionTimeouts(shortest, longest time.Duration) Option {
	return func(c *config) {
		if shortest <= 0 || longest < shortest {
			c.reject("session timeouts from %v to %v", shortest, longest)
		}
		c.minTimeout, c.maxTimeout = shortest, longest
	}
}

// WithTick makes sessions expire only at multiples of d, as on a real server,
// whose tick is typically 2 seconds: at the first multiple after the timeout.
// With 0, the default of a standalone server, a session expires exactly its
// timeout after the client was last heard of. The default of an ensemble, also
// for 0, is 100 milliseconds, and [WithSyncLimit] counts in these ticks.
func WithTick(d time.Duration) Option {
	return func(c *config) {
		if d < 0 {
			c.reject("a tick of %v", d)
		}
		c.tick = d
	}
}

// WithTTLNodes switches nodes with a TTL on or off. They are on by default,
// because that is more useful in tests; a real server needs to be configured
// for them, and answers [ErrUnimplemented] otherwise.
func WithTTLNodes(on bool) Option {
	return func(c *config) { c.ttl = on }
}

// WithContainerCheckInterval sets how often the server looks for empty
// containers, and for nodes with a TTL whose time is over. The default is a real
// server's, one minute. [Server.ReapContainers] makes it look at once.
func WithContainerCheckInterval(d time.Duration) Option {
	return func(c *config) {
		if d < time.Millisecond {
			c.reject("a container check interval of %v", d)
		}
		c.reapInterval = d
	}
}

// WithSyncLimit sets how many ticks the members of an ensemble put up with each
// other's silence: a follower that is cut off from its leader drops its clients
// after that time, and a leader without a majority steps down one tick later.
// The default is 5, as in the configuration that ZooKeeper comes with. It has
// no effect on a standalone server.
func WithSyncLimit(ticks int) Option {
	return func(c *config) {
		if ticks < 1 {
			c.reject("a sync limit of %d ticks", ticks)
		}
		c.syncLimit = ticks
	}
}

// WithRequestLog sets how many requests [Server.Requests] remembers. The
// default is 100,000, which is plenty for a test; a program that serves for
// long wants less. An [Ensemble] remembers as many for each member, and again
// for all of them. It has no influence on [Server.CountRequests] and
// [Server.Stats].
func WithRequestLog(n int) Option {
	return func(c *config) {
		if n < 0 {
			c.reject("a log of %d requests", n)
		}
		c.logSize = n
	}
}

// WithWallClock makes the server take the time that it writes into nodes,
// [Stat.Ctime] and [Stat.Mtime], from a function: for tests that compare what a
// program prints with a file, over TCP, where package testing/synctest cannot
// help. Timeouts go by the real time. The server calls the function with its
// lock held, so that it must not call the server.
func WithWallClock(now func() time.Time) Option {
	return func(c *config) {
		if now == nil {
			c.reject("a nil clock")
			return
		}
		c.wallClock = now
	}
}
