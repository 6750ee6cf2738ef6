package framework

import (
	"context"
	"runtime/pprof"
	"strings"
	"sync"
	"time"

	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/framework/internal/connstate"
	"github.com/gocurator/curator/framework/internal/teller"
	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/internal/broadcast"
	"github.com/gocurator/curator/internal/flight"
	"github.com/gocurator/curator/internal/hooks"
)

// Client is a managed connection to a ZooKeeper ensemble. It has one session at
// a time and makes a new one when the old one is lost. It is safe for
// concurrent use and must be closed. Namespace makes more views of it, with the
// same session.
//
// # What a context carries
//
//   - A deadline. Every operation returns when its context ends. A request that
//     was sent cannot be taken back: a write then returns an error that matches
//     [ErrOutcomeUnknown]. The client cleans up after operations
//     [WithProtection] and [WithGuarantee] in the background, on no caller's
//     context.
//   - A session. Inside [Client.InSession], no operation of the client is
//     carried out in a later session, not even by a retry.
//   - A retry budget. Operations and loops inside a [retry.Do] share the policy
//     of the outermost loop, in place of their own.
//   - A lease. The context of a held lock ends when the lock can no longer be
//     trusted. It has the values of the context of the acquire, but not its
//     deadline. LeaseFromContext finds its lease. An acquire of the same lock
//     under it re-enters the lock. Any other acquire is another contender, even
//     in the same goroutine.
//   - A span, which a tracer adds for the operations and the work below.
//
// # Concurrency
//
// Readers of [Client.States] hear every transition in order, and delay nobody.
// Log handlers and tracers may be slow or block: they delay neither the session
// nor background work, and [Client.Close] by a second at most. A slow tracer
// delays the operations that it is told of. Close returns when everything that
// the client started has ended. A connection has 768 requests or 4 MiB under
// way at most; more of them wait.
type Client struct {
	*core
	chroot string // put before every path of this view; empty if there is none
}

// core is what all views of one client share: everything but the prefix of
// their paths.
type core struct {
	cfg        config
	addresses  []string // of the connection string
	serverList *serverList
	root       *Client // the view that New returned

	ctx    context.Context // ends with ErrClosed
	cancel context.CancelCauseFunc

	goroutines   sync.WaitGroup // everything this client has started; see spawn
	tellers      teller.Group   // and the calls of the user's code
	dropped      dropped
	followers    []func(clienttrace.StateChange)
	over         chan struct{} // closed when Close is done
	cleanups     cleanups      // what is still to be done in the background
	reservations *reservations // of plain ephemeral nodes that are being created
	hooks        *hooks.List
	recorder     *flight.Recorder // nil for none
	persistent   persistentWatches
	suspects     suspects

	mu          sync.Mutex // protects the following fields
	closed      bool       // no goroutine may be added
	machine     connstate.Machine
	last        *broadcast.Node[clienttrace.StateChange] // the state now; later ones follow it
	session     *Session                                 // the newest, connected or not
	earlierZxid int64                                    // see LastZxid; of the sessions before
	attempt     error                                    // why the last attempt to connect failed, or nil
	refusal     refusal
	outage      outage
	attempts    attempts // to connect, by server
	auth        []transport.Credentials
}

// New returns a client of the ensemble named by a connection string such as
// "zk1:2181,zk2:2181,zk3:2181/shop": servers with optional ports, and an
// optional chroot that is put before every path. It starts to connect and does
// not wait: operations wait for the connection, and so does WaitConnected.
//
// Empty parts between commas are left out. An IPv6 address belongs in brackets,
// with the port behind them. Without brackets it is an error if Java would take
// its end for the port.
//
// A chroot that does not exist is created with the first node in it, as Curator
// does. The log has a warning then: if the chroot was mistyped, the client
// works alone in a tree of its own, where its locks exclude nobody.
//
// A connection string or an option that cannot be used is a *ConfigError.
func New(connectString string, opts ...Option) (*Client, error) {
	cfg := defaultConfig()
	discard := cfg.logger
	for _, opt := range opts {
		if opt == nil {
			return nil, isNil("option")
		}
		opt(&cfg)
	}
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	addresses, chroot, err := parseConnectString(connectString)
	if err != nil {
		return nil, err
	}
	c := newClient(cfg, addresses, chroot)
	if cfg.logger != discard {
		c.cfg.logger = newLogger(cfg.logger, c.tellers.New())
		c.follow(c.cfg.logStates)
	}
	c.tellOpened()
	c.recorder.Add(flight.Event{Kind: flight.ClientOpened})
	c.spawn(func(ctx context.Context) {
		pprof.SetGoroutineLabels(ctx) // those that it starts have them, too
		c.supervise()
	})
	return c, nil
}

func newClient(cfg config, addresses []string, chroot string) *Client {
	c := &Client{
		core: &core{
			cfg:          cfg,
			addresses:    addresses,
			serverList:   newServerList(addresses, cfg.servers),
			last:         broadcast.New(clienttrace.StateChange{}),
			refusal:      newRefusal(),
			over:         make(chan struct{}),
			reservations: newReservations(),
			hooks:        hooks.NewList(cfg.hooks),
			recorder:     flight.New(cfg.recentEvents, cfg.acquireStacks),
			auth:         cfg.auth,
		},
		chroot: chroot,
	}
	c.root = c
	c.persistent.client, c.persistent.byPath = c, map[string]*persistentWatch{}
	c.ctx, c.cancel = context.WithCancelCause(labelled(context.Background(), cfg.serviceName, c.servers()))
	return c
}

// supervise owns the client's sessions: it starts each one when the one before
// is over.
func (c *Client) supervise() {
	pauses := newSessionBackoff()
	for epoch := uint64(1); c.ctx.Err() == nil; epoch++ {
		s := c.startSession(epoch)
		c.spawn(func(context.Context) { s.lookAgain() })
		s.superviseDeadline()
		lived := s.lived()
		if !c.spawn(func(context.Context) { s.close() }) {
			s.close() // the client was closed meanwhile, and Close may not know of this session
		}
		c.pause(pauses.after(lived))
	}
}

// pause waits, but not longer than the client is open.
func (c *Client) pause(d time.Duration) {
	if d == 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-c.ctx.Done():
	}
}

// Close ends the session, and with it every ephemeral node and watch of this
// client, and returns when everything that the client started has ended. The
// contexts of sessions and leases end first, with ErrClosed as their cause.
// Operations under way return ErrClosed; guaranteed deletes that are not done
// are given up.
//
// Without a connection, Close connects to a server to end the session there. It
// tries that for a second at most, and returns then: if no server could be
// reached, the nodes stay until the session times out. Close does not end a
// session that was lost, for the same reason for which the client gave it up
// early: its holders need the time to stop.
//
// Servers do not survive the end of a session that has more than about two
// megabytes of paths of ephemeral nodes (ZOOKEEPER-4306). If this client has
// made so many, Close deletes what exceeds one megabyte before it ends the
// session, and takes up to the session timeout for that. The client cannot do
// that for a session that is lost: the log has a warning when there are so
// many.
//
// When it returns, the log has every line and the tracer was told of
// everything. If they block, Close waits for them no longer than a second, and
// then leaves them behind, with the goroutines that call them.
//
// Close may be called several times, on any view: they are one client. It
// always returns nil.
//
// A client that is not closed leaves goroutines behind. In a bubble of
// testing/synctest the test panics then, and package testing/zktest says in the
// test's log which client it was and where it was made. So does the label
// "curator.client" of the goroutines, in profiles and, with
// GODEBUG=tracebacklabels=1, in traces.
func (c *Client) Close() error {
	begun := time.Now()
	c.mu.Lock()
	s, second := c.session, c.closed
	c.closed = true
	c.cancel(ErrClosed)
	if s != nil && !second {
		s.runAfterFuncsLocked()
	}
	c.mu.Unlock()
	if second {
		<-c.over
		return nil
	}
	defer c.finishClosing(begun) // in any case: s.close calls the user's dialer, which may panic
	if s != nil {
		s.close()
	}
	return nil
}

func (c *Client) finishClosing(begun time.Time) {
	c.goroutines.Wait()
	c.recorder.Add(flight.Event{Kind: flight.ClientClosed})
	c.tellers.Finish(begun.Add(teller.Timeout), c.tellClosed())
	close(c.over)
}

// spawn runs f in a goroutine that Close ends, by ending ctx, and waits for. It
// reports whether it did: a closed client starts nothing.
func (c *core) spawn(f func(ctx context.Context)) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.goroutines.Go(func() { f(c.ctx) })
	return true
}

// Session returns the present session, once it is connected. It waits like an
// operation does.
func (c *Client) Session(ctx context.Context) (*Session, error) {
	s, err := c.connectedSession(ctx)
	if err != nil {
		return nil, &OpError{"session", c.servers(), err}
	}
	return s, nil
}

// SessionID returns the id of the present session. It is 0 before the first one
// is connected, and from a loss until the next one is.
func (c *Client) SessionID() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session == nil {
		return 0
	}
	return c.session.id
}

// connectedSession returns the present session, or waits for one as long as the
// connection timeout allows.
func (c *Client) connectedSession(ctx context.Context) (*Session, error) {
	if s, _, _ := c.sessionNow(); s != nil && ctx.Err() == nil {
		return s, s.checkPin(ctx)
	}
	timeout := time.NewTimer(c.cfg.connectionTimeout)
	defer timeout.Stop()
	return c.connected(ctx, timeout.C)
}

// connected waits for a connected session until ctx ends, the client is closed,
// or timeout fires.
func (c *Client) connected(ctx context.Context, timeout <-chan time.Time) (*Session, error) {
	for {
		if ctx.Err() != nil {
			return nil, c.notSent(ctx)
		}
		if c.ctx.Err() != nil {
			return nil, ErrClosed
		}
		s, changed, refused := c.sessionNow()
		if s != nil {
			return s, s.checkPin(ctx)
		}
		select {
		case <-refused:
			return nil, c.refused()
		case <-changed:
		case <-ctx.Done():
		case <-c.ctx.Done():
		case <-timeout:
			return nil, c.withConnectReasons(ErrNotConnected)
		}
	}
}

// sessionNow returns the session if it is connected. Else it returns nil, a
// channel that is closed at the next transition, and one that is closed while
// servers refuse our credentials.
func (c *Client) sessionNow() (s *Session, changed, refused <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last.Value.State.IsConnected() && !c.closed {
		return c.session, nil, nil
	}
	return nil, c.last.Done(), c.refusal.signal
}

// attemptedLocked notes how the last attempt to connect ended. It reports how
// long the outage has lasted when that is to be logged, else 0.
func (c *core) attemptedLocked(err error) (outage time.Duration) {
	c.attempt = err
	c.refusal.attempted(err)
	return c.outage.attempted(err, c.cfg.sessionTimeout)
}

func (c *Client) servers() string { return strings.Join(c.addresses, ",") }
