package zktest

import "time"

// Option configures a server.
type Option func(*config)

type config struct {
	tcp                    string
	minTimeout, maxTimeout time.Duration
	tick                   time.Duration
	ttl                    bool
	superUser              string
	enforceQuotas          bool
	logSize                int
}

func defaults() config {
	return config{
		minTimeout: time.Millisecond,
		maxTimeout: 24 * 24 * time.Hour,
		ttl:        true,
		logSize:    defaultLogSize,
	}
}

// WithTCP makes the server listen on a TCP address as well, for clients in other
// processes. Use port 0 for any free port and ask [Server.Addr] for it. The
// default is no port at all. An address without a host means the loopback interface;
// whoever wants others to reach a server that believes everybody has to say so, with
// 0.0.0.0 for example. TCP does not work inside a synctest bubble.
func WithTCP(addr string) Option {
	return func(c *config) { c.tcp = addr }
}

// WithSessionTimeouts sets the bounds for the session timeouts that clients ask
// for. The default, 1 millisecond to 24 days (close to the protocol's limit),
// lets tests choose freely; a real server allows 2 to 20 of its ticks, typically
// 4 to 40 seconds.
func WithSessionTimeouts(shortest, longest time.Duration) Option {
	return func(c *config) { c.minTimeout, c.maxTimeout = shortest, longest }
}

// WithTick makes sessions expire only at multiples of d, as on a real server,
// whose tick is typically 2 seconds. The default is no rounding: a session
// expires exactly its timeout after the client was last heard of.
func WithTick(d time.Duration) Option {
	return func(c *config) { c.tick = d }
}

// WithTTL switches nodes with a TTL on or off. They are on by default, because
// that is more useful in tests; a real server needs to be configured for them,
// and answers [ErrUnimplemented] otherwise.
func WithTTL(on bool) Option {
	return func(c *config) { c.ttl = on }
}

// WithSuperUser sets the credentials of the user to whom no ACL applies, in the
// form user:password, as clients give them with the scheme "digest". The default
// is that there is no such user.
func WithSuperUser(credentials string) Option {
	return func(c *config) { c.superUser = credentials }
}

// WithEnforcedQuotas makes writes beyond a hard limit fail with [ErrQuotaExceeded].
// By default quotas are only accounted for, as on a real server.
func WithEnforcedQuotas() Option {
	return func(c *config) { c.enforceQuotas = true }
}

// WithRequestLog sets how many requests [Server.Requests] remembers. The default
// is 100,000, which is plenty for a test; a program that serves for long wants
// less. It has no influence on [Server.CountRequests] and [Server.Stats].
func WithRequestLog(n int) Option {
	return func(c *config) { c.logSize = max(n, 0) }
}
