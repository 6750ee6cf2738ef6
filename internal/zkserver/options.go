package zkserver

import (
	"crypto/tls"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Option changes how a server, or every server of an ensemble, is set up. An
// option that is nil or has an impossible value is an error of the start.
type Option func(*config)

// config is the result of all options. It does not change once newConfig has
// returned it.
type config struct {
	tick                   time.Duration
	minSession, maxSession time.Duration
	initLimit, syncLimit   int // ticks
	startTimeout           time.Duration
	ttlNodes               bool
	properties             map[string]string   // override every other key
	jvmFlags               []string            // follow our own flags
	distribution           *Distribution       // nil: Find
	sequences              []sequence          // nodes to make
	links                  bool                // see WithLinks
	tlsAuth                *tls.ClientAuthType // nil: no TLS
	certificates           *certificates       // nil without TLS
	err                    error               // why the first bad option was rejected
}

func newConfig(opts []Option) (config, error) {
	c, err := readOptions(opts)
	if err != nil || c.tlsAuth == nil {
		return c, err
	}
	if c.certificates, err = newCertificates(); err != nil {
		err = fmt.Errorf("zkserver: certificates: %w", err)
	}
	return c, err
}

// defaultLimit is the default of WithInitLimit and WithSyncLimit, in ticks.
const defaultLimit = 100

// readOptions is newConfig without the certificates.
func readOptions(opts []Option) (config, error) {
	const defaultMinSession = 0 // two ticks, which are not known yet
	c := config{
		tick:         100 * time.Millisecond,
		minSession:   defaultMinSession,
		maxSession:   time.Minute,
		initLimit:    defaultLimit,
		syncLimit:    defaultLimit,
		startTimeout: 2 * time.Minute,
		ttlNodes:     true,
		properties:   map[string]string{},
	}
	for i, opt := range opts {
		if opt == nil {
			c.reject("option %d is nil", i+1)
			continue
		}
		opt(&c)
	}
	if c.minSession == defaultMinSession {
		c.minSession = 2 * c.tick
	}
	return c, c.validate()
}

// reject notes an option that cannot be used. The first one counts.
func (c *config) reject(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("zkserver: "+format, args...)
	}
}

// longestTime is the longest time that ZooKeeper's configuration can hold.
const longestTime = math.MaxInt32 * time.Millisecond

func (c *config) validate() error {
	switch {
	case c.err != nil:
		return c.err
	case c.tick < time.Millisecond || c.tick > longestTime:
		return fmt.Errorf("zkserver: tick of %v: must be from 1ms to %v", c.tick, longestTime)
	case c.minSession < time.Millisecond || c.maxSession < c.minSession || c.maxSession > longestTime:
		return fmt.Errorf("zkserver: session timeouts from %v to %v: must be a range between 1ms and %v",
			c.minSession, c.maxSession, longestTime)
	case c.startTimeout <= 0:
		return fmt.Errorf("zkserver: start timeout of %v: must be positive", c.startTimeout)
	case c.tlsAuth != nil && clientAuth[*c.tlsAuth] == "":
		return fmt.Errorf("zkserver: TLS client authentication %v: not supported by ZooKeeper", *c.tlsAuth)
	}
	if err := c.validateLimit("init", c.initLimit); err != nil {
		return err
	}
	if err := c.validateLimit("sync", c.syncLimit); err != nil {
		return err
	}
	for _, s := range c.sequences {
		if err := s.validate(); err != nil {
			return err
		}
	}
	return nil
}

// validateLimit checks a number of ticks. ZooKeeper multiplies it by the tick,
// and the product has to be a time that it can hold.
func (c *config) validateLimit(name string, ticks int) error {
	if longest := int(longestTime / c.tick); ticks < 1 || ticks > longest {
		return fmt.Errorf("zkserver: %s limit of %d ticks: must be from 1 to %d at a tick of %v",
			name, ticks, longest, c.tick)
	}
	return nil
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
	return func(c *config) {
		if shortest <= 0 {
			c.reject("session timeouts from %v to %v: must be positive", shortest, longest)
		}
		c.minSession, c.maxSession = shortest, longest
	}
}

// WithInitLimit sets how many ticks a follower has to connect to its leader and
// to catch up. The default is 100, which is 10 s at the default tick. It must
// be at least 1. The option has no effect on a standalone server.
func WithInitLimit(ticks int) Option {
	return func(c *config) { c.initLimit = ticks }
}

// WithSyncLimit sets how many ticks the servers of an ensemble put up with each
// other's silence:
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

// WithStartTimeout bounds how long a start or a restart waits until the server
// serves. The default is two minutes.
func WithStartTimeout(d time.Duration) Option {
	return func(c *config) { c.startTimeout = d }
}

// WithTTLNodes sets whether clients may create TTL nodes. The default is true.
func WithTTLNodes(enabled bool) Option {
	return func(c *config) { c.ttlNodes = enabled }
}

// WithContainerCheckInterval sets how often the server looks for empty
// container nodes and for TTL nodes whose time is over. The default is
// ZooKeeper's, one minute.
func WithContainerCheckInterval(d time.Duration) Option {
	return func(c *config) {
		if d < time.Millisecond {
			c.reject("container check interval of %v: must be at least 1ms", d)
			return
		}
		// The server reads this interval as a system property with a bare name.
		// No key of zoo.cfg becomes such a property.
		c.addJVMFlags("-Dznode.container.checkIntervalMs=" + millis(d))
	}
}

// WithProperty sets a key of zoo.cfg. It overrides every other option and every
// default of this package, including addresses and directories. ZooKeeper makes
// a system property of a key that it does not know, and puts "zookeeper."
// before it.
//
// A key that ZooKeeper would read as another one, or not at all, is refused: it
// must not be empty, contain white space, '=', ':' or a backslash, or begin
// with '#' or '!'. The value must be on one line.
func WithProperty(key, value string) Option {
	return func(c *config) {
		switch {
		case !isKey(key):
			c.reject("property %q=%q: zoo.cfg cannot have that key", key, value)
		case strings.ContainsAny(value, "\r\n"):
			c.reject("property %q=%q: must be on one line", key, value)
		default:
			c.setProperty(key, value)
		}
	}
}

// isKey reports whether a line of zoo.cfg that begins with key and '=' sets
// that key. The file has the format of Java's class Properties.
func isKey(key string) bool {
	return key != "" && !strings.ContainsAny(key[:1], "#!") &&
		!strings.ContainsAny(key, `=:\`) && !strings.ContainsFunc(key, unicode.IsSpace)
}

func (c *config) setProperty(key, value string) {
	c.properties = maps.Clone(c.properties)
	c.properties[key] = value
}

// WithJVMFlags adds flags for java. They follow the flags of this package, and
// so override them. A flag that Java does not know fails the start.
func WithJVMFlags(flags ...string) Option {
	return func(c *config) {
		if slices.Contains(flags, "") {
			c.reject("JVM flags %q: must not be empty", flags)
			return
		}
		c.addJVMFlags(flags...)
	}
}

func (c *config) addJVMFlags(flags ...string) {
	c.jvmFlags = append(slices.Clip(c.jvmFlags), flags...)
}

// WithDistribution runs the servers from d. The default is the distribution
// that [Find] returns.
func WithDistribution(d *Distribution) Option {
	return func(c *config) {
		if d == nil || d.Java == "" || len(d.ClassPath) == 0 {
			c.reject("distribution %+v: must have Java and a class path", d)
			return
		}
		c.distribution = d
	}
}

func millis(d time.Duration) string {
	return strconv.FormatInt(d.Milliseconds(), 10)
}
