package framework

import (
	"cmp"
	"context"
	"crypto/tls"
	"log/slog"
	"time"

	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/retry"
	"github.com/gocurator/curator/state"
)

// Option configures a Client. Which option is for what:
//
//   - How soon a crashed process frees its locks: [WithSessionTimeout].
//   - How long operations wait and try: [WithConnectionTimeout], [WithRetry].
//   - When work must stop: [WithErrorPolicy], [WithSafetyMargin] and
//     [WithStrictContact].
//   - Which servers, and how to reach them: [WithServers] with [ResolveDNS],
//     [WithDialer] and [WithTLS].
//   - Rights: [WithAuth] and [WithSASL] say who the client is, [WithACLProvider] who
//     may do what to its nodes. By default everybody may do everything.
//   - What goes on inside: [WithLogger] and [WithHooks]. Without them, and
//     without a reader of [Client.States], an outage is silent.
//   - Lost replies, which are matters of single operations: [WithProtection],
//     [WithOverwrite] and [WithIdempotence] for a create, [WithGuarantee] for a
//     delete. [ErrOutcomeUnknown] has the whole table.
type Option func(*config)

// WithSessionTimeout sets how long the server keeps the session, and with it
// ephemeral nodes, after the client's last sign of life. The server may
// negotiate another value: by default it allows 2 to 20 of its ticks. The
// default is 15 seconds; less than 10 milliseconds is an error.
//
// A crashed holder blocks its lock for this long. A shorter timeout frees locks
// sooner and loses more sessions to pauses of the process or of the network.
func WithSessionTimeout(d time.Duration) Option {
	return func(c *config) { c.sessionTimeout = d }
}

// WithConnectionTimeout sets how long an operation waits for a connection
// before it fails with ErrNotConnected. The default is 15 seconds. The
// operation's context ends the wait sooner. math.MaxInt64 leaves it to that.
func WithConnectionTimeout(d time.Duration) Option {
	return func(c *config) { c.connectionTimeout = d }
}

// WithDialer sets how connections are made, for proxies or tests. The default
// is a net.Dialer, which resolves names anew for each attempt. The dialer must
// return soon after its context ends; see DialFunc.
func WithDialer(dial DialFunc) Option {
	return func(c *config) { c.dial = dial }
}

// WithRetry sets how operations that failed for want of a connection are tried
// again. The default is retry.Exponential(100 ms, 2 s, 5).
func WithRetry(p retry.Policy) Option {
	return func(c *config) { c.retry = p }
}

// WithErrorPolicy says in which states recipes must consider their locks lost.
// The default is state.SessionPolicy.
func WithErrorPolicy(p state.ErrorPolicy) Option {
	return func(c *config) { c.policy = p }
}

// WithLogger sets where the client's log goes. The default discards it. The log
// has lines for:
//
//   - state changes (level Info, or Warn if there is a cause);
//   - losses of locks (level Warn, or Info if the client was closed);
//   - the client library's messages (level Debug).
//
// The line of a state change has the attributes "curator.session.state",
// "curator.session.id" (in hexadecimal digits, as ZooKeeper's own logs have
// it), "server.address", "server.port", and "curator.cause", if there is one;
// see StateChange. Package tracing uses the same names for attributes of spans.
//
// An outage that lasts longer than the session timeout has one more line, at
// level Warn. The attribute "curator.outage.duration" says how long the outage
// has lasted, and "curator.cause" why the last attempt to connect failed.
//
// A caller's goroutine writes its own lines. The client's emitter writes the lines of
// background work, in their order. The section "Your code" of the package documentation
// has the rule for handlers.
func WithLogger(l *slog.Logger) Option {
	return func(c *config) { c.logger = l }
}

// WithHooks adds hooks, which are called for what happens in the client and in its
// recipes: see clienttrace.Hook. Any number of them may be given, in one or more
// options, and each is called for every event for which it has a method. They are
// called in the order in which they are given. The default is none, which costs
// nothing.
//
// If a hook has a method Err() error, New returns the error of that method. The
// hook of tracing.New has one for options that it cannot use. A hook that is
// nil, or has no method for an event, is an error of New, too.
func WithHooks(h ...clienttrace.Hook) Option {
	return func(c *config) {
		for _, hook := range h {
			c.invalid = cmp.Or(c.invalid, hookFault(hook))
			c.hooks = append(c.hooks, hook)
		}
	}
}

// WithServiceName sets the name of this process for others that wait for its
// locks; see locks.Identity. The default, also if the name is empty, is the
// base name of the executable. With OpenTelemetry, pass the service name that
// the process has there, such as os.Getenv("OTEL_SERVICE_NAME").
func WithServiceName(name string) Option {
	return func(c *config) {
		if name == "" {
			name = executable()
		}
		c.serviceName = name
	}
}

// WithServers sets a function that knows the servers of the ensemble, for
// ensembles that change. It returns them as they are now, each a host with an
// optional port, as in the connection string: an IPv6 address needs brackets. It must return soon after ctx ends:
// until then, the client has no connection and tries no server, and Close waits.
//
// It is asked before each round over all servers, while there is no connection,
// so that a change takes effect at the next reconnect; the session goes on. The
// servers of the connection string are only the ones known at first.
//
// If ask returns an error, or no servers, or a server that would be an error in
// a connection string, the servers known before are tried, and the reason shows
// in the text of ErrNotConnected. For one answer there is as much time as for
// an attempt to connect.
func WithServers(ask func(ctx context.Context) ([]string, error)) Option {
	return func(c *config) {
		c.servers = ask
		c.require("servers function", ask != nil)
	}
}

// WithTLS puts TLS on every connection that the dialer makes. The configuration
// is copied. Without a ServerName the server's certificate must be for the host
// of the address in use; set one if that is an IP address, as ResolveDNS
// returns. The handshake is part of the attempt to connect, and of the time for
// it.
func WithTLS(cfg *tls.Config) Option {
	own := cfg.Clone() // nil stays nil
	return func(c *config) {
		c.tls = own
		c.require("TLS configuration", own != nil)
	}
}

// WithSafetyMargin sets how early a session is given up: by this part of its
// negotiated timeout before the server can end it, counted from the last
// request that was answered. The default is 0.1; it must be from 0 to 0.5.
//
// The margin is for clocks that run at different rates, and above all for the
// time that it takes to stop: whatever a holder does after its context has
// ended must be over within it.
//
// With 0.4 the session also ends in time if a follower dies right after it has
// answered a ping and no other server is reached. With the default it may end
// too late then, by up to 0.23 of its timeout. See WithStrictContact for this
// and other failures of servers.
//
// A larger margin loses sessions in shorter interruptions: an idle client asks
// for a sign of life after a third of the timeout, so that with 0.5 a sixth is
// left for the answer.
func WithSafetyMargin(fraction float64) Option {
	return func(c *config) { c.safetyMargin = fraction }
}

// WithoutContainers makes the client create missing parents as persistent nodes,
// as WithPersistentParents does for one call. That includes the parents that
// recipes create, the chroot and namespaces. Nobody deletes them when they have
// become empty.
//
// It is for servers that know no containers, and end the connection when they are
// asked for one, as ClickHouse Keeper does.
func WithoutContainers() Option {
	return func(c *config) { c.noContainers = true }
}

// WithMaxRequestSize sets the length in bytes up to which requests are sent.
// Servers cut the connection at requests longer than their jute.maxbuffer,
// which is the default here, 1,048,575; set both or neither. A request that is
// longer than the servers' limit alone ends connections, and may fail with a
// HangUpError.
func WithMaxRequestSize(n int) Option {
	return func(c *config) { c.maxRequest = n }
}

// WithStrictContact makes the session end in time even when servers are cut off
// from each other, or die.
//
// By default every answer counts as contact: the session is given up nine
// tenths of its timeout after the last request was sent that any server
// answered. That is too late in three cases:
//
//   - A follower that is cut off from its leader goes on answering pings and
//     reads by itself, for up to the ensemble's syncLimit times tickTime (ten
//     seconds is common). The leader, which alone decides, may have ended the
//     session by then, and given its locks away.
//   - A leader that is cut off from its followers goes on for that long and a
//     tick longer. The followers may have another leader by then, which may
//     have ended the session.
//   - A follower answers a ping and dies before it has told its leader. The
//     leader counts from the ping before that, a third of the timeout earlier.
//     If the client reaches no other server, it is too late by up to a third of
//     the timeout less the safety margin: 3.5 seconds of 15. A margin of 0.4 is
//     enough against this case; see WithSafetyMargin.
//
// Strict contact counts only contact that a leader has confirmed while a
// majority followed it. The client asks for that eight times in each session
// timeout, with a sync and a transaction. The session is then given up before
// its nodes are given away, whichever servers are cut off from each other or
// die, as long as:
//
//   - The leader's tick is no longer than half the session timeout. Servers
//     grant no less, unless they are told to.
//   - The client's server is a voter, or an observer of the leader itself. An
//     observer that follows a follower (observerMasterPort) tells that follower
//     of its clients, and the leader hears of them later than assumed here.
//   - The clock of this process is slower than theirs by no more than the
//     safety margin.
//   - This process is not stopped. Only a fencing token protects from that; see
//     locks.Lease.FencingToken.
//
// Under strict contact, a try of a lock that looks at the queue first waits for a
// SyncQuorum, which costs a write: a leader that is cut off misleads no try.
//
// The price is the requests, and sessions that are lost sooner. The transaction
// checks that there is a node "/" and changes nothing, but the servers write it
// to their logs like every other. The last confirmed contact is up to half a
// session timeout and three round trips of a write old. So a session is lost:
//
//   - in an outage of two fifths of its timeout, which without strict contact
//     may last nine tenths of it;
//   - on servers that take more than an eighth of the timeout for each write.
//
// WithSafetyMargin takes its part of that, and may be no more than a quarter.
func WithStrictContact() Option {
	return func(c *config) { c.strictContact = true }
}
