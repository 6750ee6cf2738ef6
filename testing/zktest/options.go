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
	errs                   []error // what is wrong with the options
	sasl                   saslUsers
}

// The defaults of an [Ensemble]: a tenth of what is common in production, or
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

// reject notes that an option makes no sense.
func (c *config) reject(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf("zktest: "+format, args...))
}

// syncTime is how long the members of an ensemble put up with each other's
// silence.
func (c *config) syncTime() time.Duration {
	const longest = forever / 2 // callers add a tick
	if time.Duration(c.SyncLimit) > longest/c.Tick {
		return longest
	}
	return time.Duration(c.SyncLimit) * c.Tick
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
