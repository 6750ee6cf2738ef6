package zktest

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/gocurator/curator/internal/zkinside"
)

// Option configures a server: which clients can connect ([WithTCP], [WithSASLUser]), how
// long sessions live ([WithSessionTimeouts]), and what fails by chance ([WithChaos]).
type Option func(*config)

type config struct {
	zkinside.Settings
	tcp                    string
	minTimeout, maxTimeout time.Duration
	plan                   *ChaosPlan
	errs                   []error // why options are invalid
	sasl                   saslUsers
}

// These are the defaults of an [Ensemble]: a tenth of the usual values in production, or
// less.
const (
	defaultTick      = 100 * time.Millisecond
	defaultSyncLimit = 5
	electionTime     = 200 * time.Millisecond
)

func configured(opts []Option) (config, error) {
	cfg := config{minTimeout: time.Millisecond, maxTimeout: 24 * 24 * time.Hour}
	for i, opt := range opts {
		if opt == nil {
			return cfg, fmt.Errorf("zktest: option %d is nil", i+1)
		}
		opt(&cfg)
	}
	cfg.SyncLimit = cmp.Or(cfg.SyncLimit, defaultSyncLimit)
	cfg.ContainerCheckInterval = cmp.Or(cfg.ContainerCheckInterval, time.Minute)
	cfg.RequestLog = max(cmp.Or(cfg.RequestLog, defaultLogSize), 0)
	if cfg.WallClock == nil {
		cfg.WallClock = time.Now
	}
	switch {
	case cfg.plan != nil && cfg.Schedule != nil:
		cfg.reject("a chaos plan together with a scheduler")
	case cfg.RequiredSASL && cfg.sasl == nil:
		cfg.reject("required SASL without a user")
	case cfg.Tick < 0 || cfg.SyncLimit < 0:
		cfg.reject("a tick of %v and a sync limit of %d ticks", cfg.Tick, cfg.SyncLimit)
	case cfg.ContainerCheckInterval < time.Millisecond:
		cfg.reject("a container check interval of %v", cfg.ContainerCheckInterval)
	}
	return cfg, errors.Join(cfg.errs...)
}

// reject records that an option is invalid.
func (c *config) reject(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf("zktest: "+format, args...))
}

// syncTime returns how long the members of an ensemble tolerate each other's silence.
func (c *config) syncTime() time.Duration {
	const longest = forever / 2 // callers add a tick
	if time.Duration(c.SyncLimit) > longest/c.Tick {
		return longest
	}
	return time.Duration(c.SyncLimit) * c.Tick
}

// WithTCP makes the server listen on a TCP address, too, for clients in other processes. With
// port 0, the system chooses a free port, which [Server.Addr] returns. By default, the server
// has no port. Without a host, the server listens only on the loopback interface, because it
// accepts every client; 0.0.0.0 is all interfaces. TCP does not work in a bubble of
// testing/synctest.
func WithTCP(addr string) Option {
	return func(c *config) {
		if addr == "" {
			c.reject("WithTCP without an address")
		}
		c.tcp = addr
	}
}

// WithSessionTimeouts sets the bounds for the session timeouts that clients request. The
// default is 1 millisecond to 24 days, which is close to the protocol's limit. A real server
// allows 2 to 20 of its ticks, typically 4 to 40 seconds.
func WithSessionTimeouts(shortest, longest time.Duration) Option {
	return func(c *config) {
		if shortest <= 0 || longest < shortest {
			c.reject("session timeouts from %v to %v", shortest, longest)
		}
		c.minTimeout, c.maxTimeout = shortest, longest
	}
}
