package framework

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/internal/chain"
	"github.com/gocurator/curator/retry"
	"github.com/gocurator/curator/state"
)

// Client is a managed connection to a ZooKeeper ensemble. It has one session at a time and makes a new one when the
// old one is lost. It is safe for concurrent use and must be closed. Namespace makes more views of it.
type Client struct {
	*core
	chroot string // put before every path of this view; empty if there is none
}

// core is what all views of one client share: everything but the prefix of their paths.
type core struct {
	cfg       config
	addresses []string // of the connection string
	ensemble  *ensemble
	root      *Client // the view that New returned

	ctx    context.Context // ends with ErrClosed
	cancel context.CancelCauseFunc

	goroutines sync.WaitGroup // everything this client has started; see Go
	closing    sync.Once      // telling the tracer of it

	mu      sync.Mutex // protects the following fields
	closed  bool       // no goroutine may be added
	machine state.Machine
	last    *chain.Link[StateChange] // the state now, and the way to those that follow
	session *Session                 // the newest, connected or not
	attempt error                    // why the last attempt to connect failed, or nil
	refused chan struct{}            // closed while servers refuse our credentials
	auth    []transport.Credentials
}

// New returns a client of the ensemble named by a connection string such as "zk1:2181,zk2:2181,zk3:2181/shop": servers
// with optional ports, and an optional chroot that is put before every path. It starts to connect and does not wait:
// operations wait for the connection, and so does WaitConnected.
//
// A connection string or an option that cannot be used is a *ConfigError.
func New(connectString string, opts ...Option) (*Client, error) {
	cfg := defaultConfig()
	quiet := cfg.logger
	for _, opt := range opts {
		if opt == nil {
			return nil, &ConfigError{"option", "nil", "must not be nil"}
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
	if cfg.logger != quiet {
		c.follow(cfg.logStates)
	}
	if cfg.tracer != nil {
		cfg.tracer.ClientOpened(c)
		c.follow(cfg.tracer.StateChanged)
	}
	c.Go(func(context.Context) { c.supervise() })
	return c, nil
}

func newClient(cfg config, addresses []string, chroot string) *Client {
	c := &Client{
		core: &core{
			cfg:       cfg,
			addresses: addresses,
			ensemble:  newEnsemble(addresses, cfg.servers),
			last:      chain.New(StateChange{}),
			refused:   make(chan struct{}),
			auth:      cfg.auth,
		},
		chroot: chroot,
	}
	c.root = c
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	return c
}

// supervise owns the succession of sessions: it starts each one when the one before is over.
func (c *Client) supervise() {
	for epoch := uint64(1); c.ctx.Err() == nil; epoch++ {
		s := c.startSession(epoch)
		s.superviseDeadline()
		if !c.Go(func(context.Context) { s.close() }) {
			s.close() // the client was closed meanwhile, and Close may not know of this session
		}
		if s.ID() == 0 { // a server that rejects a new session must not be asked for the next one without a pause
			c.pause(longestRoundPause)
		}
	}
}

// pause waits, but not longer than the client is open.
func (c *Client) pause(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-c.ctx.Done():
	}
}

// Close ends the session, and with it every ephemeral node and watch of this client, and returns when everything that
// the client started has ended. The contexts of sessions and leases end first, with ErrClosed as their cause.
// Operations under way return ErrClosed; guaranteed deletes that are not done are given up.
//
// If no server can be reached, the nodes stay until the session times out, and Close returns within about a second.
// Close may be called several times, on any view: they are one client. It always returns nil.
func (c *Client) Close() error {
	c.mu.Lock()
	s := c.session
	c.closed = true
	c.mu.Unlock()

	c.cancel(ErrClosed)
	if s != nil {
		s.close()
	}
	c.goroutines.Wait()
	c.closing.Do(func() {
		if c.cfg.tracer != nil {
			c.cfg.tracer.ClientClosed(c.root)
		}
	})
	return nil
}

// Go runs f in a goroutine that Close ends, by ending ctx, and waits for. It reports whether it did: a closed client
// starts nothing. Recipes run their background work with it.
func (c *Client) Go(f func(ctx context.Context)) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.goroutines.Go(func() { f(c.ctx) })
	return true
}

// Session returns the present session, once it is connected. It waits like an operation does.
func (c *Client) Session(ctx context.Context) (*Session, error) {
	s, err := c.connectedSession(ctx)
	if err != nil {
		return nil, &OpError{"session", c.servers(), err}
	}
	return s, nil
}

// SessionID returns the id of the newest session, or 0 if there has been none.
func (c *Client) SessionID() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session == nil {
		return 0
	}
	return c.session.id
}

// ServiceName returns the name set by WithServiceName, or what it is by default.
func (c *Client) ServiceName() string { return c.cfg.serviceName }

// Logger returns the logger set by WithLogger, or one that discards. Packages that are built on the client log to it.
func (c *Client) Logger() *slog.Logger { return c.cfg.logger }

// ErrorPolicy returns the policy set by WithErrorPolicy.
func (c *Client) ErrorPolicy() state.ErrorPolicy { return c.cfg.policy }

// connectedSession returns the present session, or waits for one as long as the connection timeout allows.
func (c *Client) connectedSession(ctx context.Context) (*Session, error) {
	if s, _, _ := c.sessionNow(); s != nil && ctx.Err() == nil {
		return s, s.mayServe(ctx)
	}
	timeout := time.NewTimer(c.cfg.connectionTimeout)
	defer timeout.Stop()
	return c.connected(ctx, timeout.C)
}

// connected waits for a connected session until ctx ends, the client is closed, or timeout fires.
func (c *Client) connected(ctx context.Context, timeout <-chan time.Time) (*Session, error) {
	for {
		if ctx.Err() != nil {
			return nil, c.whileConnecting(retry.ContextError(ctx))
		}
		if c.ctx.Err() != nil {
			return nil, ErrClosed
		}
		s, changed, refused := c.sessionNow()
		if s != nil {
			return s, s.mayServe(ctx)
		}
		select {
		case <-refused:
			return nil, c.whileConnecting(errRefused)
		case <-changed:
		case <-ctx.Done():
		case <-c.ctx.Done():
		case <-timeout:
			return nil, c.whileConnecting(ErrNotConnected)
		}
	}
}

// sessionNow returns the session if it is connected, else nil, a channel that is closed at the next transition, and one
// that is closed while servers refuse our credentials.
func (c *Client) sessionNow() (s *Session, changed, refused <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last.Value.State.IsConnected() && !c.closed {
		return c.session, nil, nil
	}
	return nil, c.last.Followed(), c.refused
}

// attemptedLocked notes how the last attempt to connect ended, and whether it was our credentials that were refused.
func (c *core) attemptedLocked(err error, refused bool) {
	c.attempt = err
	select {
	case <-c.refused:
		if !refused {
			c.refused = make(chan struct{})
		}
	default:
		if refused {
			close(c.refused)
		}
	}
}

// whileConnecting adds to an error why there is no connection.
func (c *Client) whileConnecting(err error) error {
	c.mu.Lock()
	attempt := c.attempt
	c.mu.Unlock()
	var reasons []string // made without the lock: errors may be the user's
	if attempt != nil {
		reasons = append(reasons, "last attempt: "+attempt.Error())
	}
	if listError := c.ensemble.problem(); listError != nil {
		reasons = append(reasons, "list of servers: "+listError.Error())
	}
	if len(reasons) == 0 {
		return err
	}
	return &connectError{err, strings.Join(reasons, "; ")}
}

// connectError is the end of a wait for a connection. The reasons are text only: they may be old.
type connectError struct {
	ended   error
	reasons string
}

func (e *connectError) Error() string { return e.ended.Error() + " (" + e.reasons + ")" }
func (e *connectError) Unwrap() error { return e.ended }

func (c *Client) servers() string { return strings.Join(c.addresses, ",") }
