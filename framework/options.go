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

// Option configures a Client. The options by purpose:
//
//   - How soon a crashed process frees its locks: [WithSessionTimeout].
//   - How long operations wait and try: [WithConnectionTimeout], [WithRetry].
//   - When work must stop: [WithErrorPolicy], [WithSafetyMargin] and
//     [WithStrictContact].
//   - Which servers, and how to reach them: [WithServers] with [ResolveDNS],
//     [WithDialer] and [WithTLS].
//   - Rights: [WithAuth] and [WithSASL] authenticate the client, and [WithACLProvider]
//     restricts access to its nodes. By default, everyone may do everything.
//   - Observability: [WithLogger] and [WithHooks]. Without them, and without a reader
//     of [Client.States], an outage is silent.
//   - Lost replies, which concern single operations: [WithProtection], [WithOverwrite]
//     and [WithIdempotence] for a create, [WithGuarantee] for a delete.
//     [ErrOutcomeUnknown] has the whole table.
type Option func(*config)

// WithSessionTimeout sets how long the server keeps the session, and with it
// ephemeral nodes, after the client's last sign of life. The server may
// negotiate another value: by default it allows 2 to 20 of its ticks. The
// default is 15 seconds; less than 10 milliseconds is an error.
//
// A crashed holder blocks its lock for this long. A shorter timeout frees locks sooner
// but makes GC and network pauses more likely to cost you the session.
func WithSessionTimeout(d time.Duration) Option {
	return func(c *config) { c.sessionTimeout = d }
}

// WithConnectionTimeout sets how long an operation waits for a connection before it
// fails with ErrNotConnected. The default is 15 seconds. The operation's context may
// end the wait sooner. With math.MaxInt64, only the context ends the wait.
func WithConnectionTimeout(d time.Duration) Option {
	return func(c *config) { c.connectionTimeout = d }
}

// WithDialer sets the function that opens connections, for proxies or tests. The
// default is a net.Dialer, which resolves names anew for each attempt. The dialer must
// return soon after its context ends; see DialFunc.
func WithDialer(dial DialFunc) Option {
	return func(c *config) { c.dial = dial }
}

// WithRetry sets the retry policy of operations that have failed for lack of a connection.
// The default is retry.Exponential(100 ms, 2 s, 5).
func WithRetry(p retry.Policy) Option {
	return func(c *config) { c.retry = p }
}

// WithErrorPolicy sets the states in which recipes must consider their locks lost. The
// default is state.SessionPolicy.
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
// An outage that lasts longer than the session timeout has one more line, at level
// Warn. The attribute "curator.outage.duration" is the duration so far, and
// "curator.cause" is the reason why the last attempt to connect failed.
//
// The client's emitter writes the lines, in their order. The section "Your code" of the
// package documentation has the rule for handlers.
func WithLogger(l *slog.Logger) Option {
	return func(c *config) { c.logger = l }
}

// WithHooks adds hooks for the events of the client and its recipes: see
// clienttrace.Hook. Any number of hooks may be given, in one or more options. Each hook
// is called for every event for which it has a method, in the order of the options. By
// default there are no hooks, which costs nothing.
//
// If a hook has a method Err() error, New returns its error; tracing.New uses that for
// invalid options. New also returns an error for a nil hook, and for a hook without a
// method for any event.
func WithHooks(h ...clienttrace.Hook) Option {
	return func(c *config) {
		for _, hook := range h {
			c.invalid = cmp.Or(c.invalid, hookFault(hook))
			c.hooks = append(c.hooks, hook)
		}
	}
}

// WithServiceName sets the name that other processes see when they wait for this
// process's locks; see locks.Identity. The default, also for an empty name, is the base
// name of the executable. With OpenTelemetry, pass the service name that the process
// has there, such as os.Getenv("OTEL_SERVICE_NAME").
func WithServiceName(name string) Option {
	return func(c *config) {
		if name == "" {
			name = executable()
		}
		c.serviceName = name
	}
}

// WithServers sets a function that returns the present servers of an ensemble that changes. As in the connection
// string, each server is a host with an optional port, and an IPv6 address needs brackets. The function must
// return soon after ctx ends: until then, the client has no connection and tries no server, and Close waits.
//
// The client calls the function before each round over all servers, while there is no
// connection. So a change takes effect at the next reconnect, and the session
// continues. The servers in the connection string are only the initial list.
//
// If ask returns an error, no servers, or an invalid server, the client tries the
// previous servers, and errors that match ErrNotConnected name the reason. One call of
// ask has as much time as an attempt to connect.
func WithServers(ask func(ctx context.Context) ([]string, error)) Option {
	return func(c *config) {
		c.servers = ask
		c.require("servers function", ask != nil)
	}
}

// WithTLS puts TLS on every connection that the dialer makes. The configuration is
// copied. Without a ServerName, the server's certificate must be valid for the host of
// the address in use; set a ServerName if addresses are IP addresses, as from
// ResolveDNS. The handshake is part of the attempt to connect and its time limit.
func WithTLS(cfg *tls.Config) Option {
	own := cfg.Clone() // nil stays nil
	return func(c *config) {
		c.tls = own
		c.require("TLS configuration", own != nil)
	}
}

// WithSafetyMargin sets the safety margin, as a part of the negotiated timeout: the client
// gives a session up that long before the server can end it, counted from the last
// answered request. The default is 0.1; the margin must be from 0 to 0.5.
//
// The margin allows for clocks that run at different rates, and above all for the time
// to stop: a holder must finish within the margin after its context has ended.
//
// With 0.4, the session also ends in time if a follower dies right after answering a
// ping and the client reaches no other server. With the default, the session may then
// end too late, by up to 0.23 of its timeout. See WithStrictContact for this and other
// failures of servers.
//
// With a larger margin, shorter interruptions cost the session: an idle client pings
// after a third of the timeout, so with 0.5 a sixth of the timeout is left for the
// answer.
func WithSafetyMargin(fraction float64) Option {
	return func(c *config) { c.safetyMargin = fraction }
}

// WithoutContainers makes the client create missing parents as persistent nodes, as
// WithPersistentParents does for one call. That includes the parents that recipes
// create, the chroot and namespaces. These nodes stay when they are empty.
//
// Use WithoutContainers for servers without containers, such as ClickHouse Keeper,
// which ends the connection on a request for one.
func WithoutContainers() Option {
	return func(c *config) { c.noContainers = true }
}

// WithMaxRequestSize sets the length of the longest request that the client sends, in
// bytes. Servers close the connection on a request longer than their jute.maxbuffer.
// Its default, 1,048,575, is also the default here; change both or neither. A request
// that exceeds only the servers' limit ends connections, and may fail with a
// HangUpError.
func WithMaxRequestSize(n int) Option {
	return func(c *config) { c.maxRequest = n }
}

// WithStrictContact makes the session end in time even when servers are partitioned
// from each other or die.
//
// By default, every answer counts as contact: the client gives the session up nine
// tenths of its timeout after sending the last answered request. That is too late in
// three cases:
//
//   - A follower that is partitioned from its leader keeps answering pings and reads
//     for up to the ensemble's syncLimit times tickTime (ten seconds is common). The
//     leader, which alone decides, may have ended the session by then and admitted
//     other holders.
//   - A leader that is partitioned from its followers continues for that time and a
//     tick longer. By then, the followers may have another leader, which may have ended
//     the session.
//   - A follower answers a ping and dies before it has reported the contact to its
//     leader. The leader counts from the previous ping, a third of the timeout earlier.
//     If the client reaches no other server, it gives the session up too late, by up to
//     a third of the timeout minus the safety margin: 3.5 seconds of 15. A margin of
//     0.4 prevents this case; see WithSafetyMargin.
//
// With strict contact, only contact that a leader with a majority has confirmed counts.
// The client asks for confirmation eight times in each session timeout, with a sync and
// a transaction. The client then gives the session up before its nodes are deleted,
// whichever servers are partitioned or die, as long as:
//
//   - The leader's tick is no longer than half the session timeout. Servers grant no
//     shorter timeout, unless their configuration says otherwise.
//   - The client's server is a voter, or an observer of the leader itself. An observer
//     that follows a follower (observerMasterPort) reports its clients to that
//     follower, and the leader learns of them later than assumed here.
//   - The clock of this process is slower than the servers' clocks by no more than the
//     safety margin.
//   - This process is not stopped. Only a fencing token protects a stopped process; see
//     locks.Lease.FencingToken.
//
// Under strict contact, a try that reads a lock's queue first waits for a SyncQuorum,
// which costs a write, so that a partitioned leader cannot mislead the try.
//
// Strict contact costs these requests, and sessions are lost sooner. The transaction
// checks that there is a node "/" and changes nothing, but the servers log it like any
// other transaction. The last confirmed contact is up to half a session timeout and
// three round trips of a write old. So the client loses the session:
//
//   - in an outage longer than 40 % of the session timeout, instead of 90 % without
//     strict contact;
//   - on servers that take more than an eighth of the timeout for each write.
//
// WithSafetyMargin shortens these times further, and must be at most a quarter.
func WithStrictContact() Option {
	return func(c *config) { c.strictContact = true }
}
