package framework

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/internal/watches"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/state"
)

// Session is one ZooKeeper session of a client, from its first connection to its end. Do not
// rely on a node, above all on an ephemeral node, outside of the session that has created it.
// The zero Session cannot be used; Client.Session returns one.
type Session struct {
	client  *Client
	conn    *zk.Conn
	ready   chan struct{} // closed when conn is set; go-zookeeper's goroutines wait for it
	drain   <-chan zk.Event
	link    *transport.Link
	hosts   *hosts
	watches *watches.Session
	kept    keptNodes
	hangUps hangUps
	begun   time.Time
	wake    chan struct{} // capacity 1: the deadline has changed

	ctx    context.Context // see Context
	cancel context.CancelCauseFunc

	lastConn chan struct{} // closed when go-zookeeper has its shutdown connection
	closing  atomic.Bool   // close was called
	ended    atomic.Bool   // a server has confirmed to close that the session has ended
	gone     chan struct{} // closed when no goroutine of the session is left

	// Protected by client.mu.
	id            int64
	server        string          // address of the newest connection or attempt
	established   time.Time       // the time at which a server first accepted it
	lost          time.Time       // the time at which ctx ended
	uninterrupted context.Context // see Trusted
	interrupt     context.CancelCauseFunc

	// Functions to call when ctx or uninterrupted has ended. Protected by client.mu.
	afterEnd, afterInterruption afterFuncs

	afterFuncs sync.WaitGroup // running functions; none begins after Close has ended ctx
}

// startSession replaces the client's session by a new one, which begins to connect.
func (c *Client) startSession() *Session {
	s := &Session{
		client:   c,
		ready:    make(chan struct{}),
		begun:    time.Now(),
		wake:     make(chan struct{}, 1),
		lastConn: make(chan struct{}),
		gone:     make(chan struct{}),
	}
	s.ctx, s.cancel = context.WithCancelCause(c.ctx)
	s.uninterrupted, s.interrupt = context.WithCancelCause(s.ctx)
	servers := c.serverList.servers()
	s.hosts = &hosts{servers: servers, tried: len(servers), pauses: newPauses(shortestRoundPause, longestRoundPause)}
	s.watches = watches.NewSession(c.persistent, s.ownerOfWatches())
	seen := c.retire()
	s.link = transport.NewLink(s.linkConfig(seen))
	s.watches.Begin(s.link)

	c.mu.Lock()
	c.session, c.earlierZxid = s, seen
	c.mu.Unlock()

	conn, events, err := zk.Connect(c.addresses, c.cfg.sessionTimeout,
		zk.WithDialer(s.dial),
		zk.WithHostProvider(s.hosts),
		zk.WithEventCallback(s.event), // the channel drops events when it is full
		zk.WithLogger(libraryLogger{c.core}),
		zk.WithMaxBufferSize(libraryBuffer),
		zk.WithMaxConnBufferSize(libraryBuffer),
	)
	if err != nil { // only for an empty server list or a failing Init, which cannot happen
		panic("framework: zk.Connect: " + err.Error())
	}
	s.conn, s.drain = conn, events
	close(s.ready)
	return s
}

// retire stops the previous session from receiving answers, and returns LastZxid. A
// later answer on its connection must not reach a caller, because the next session
// could then read older data.
func (c *Client) retire() (lastZxid int64) {
	c.mu.Lock()
	s, earlier := c.session, c.earlierZxid
	c.mu.Unlock()
	if s == nil {
		return earlier
	}
	return max(earlier, s.link.Retire())
}

// linkConfig returns the configuration for the session's connections, which may call
// its functions even after the next session has begun.
func (s *Session) linkConfig(seen int64) transport.Config {
	c := s.client
	return transport.Config{
		Clock:           c.stamp,
		Seen:            seen,
		LeaderConfirmed: c.cfg.strictContact,
		// The library asks for whole milliseconds.
		MinTimeout:  min(shortestGrant, c.cfg.sessionTimeout.Truncate(time.Millisecond)),
		MaxRequest:  c.cfg.maxRequest,
		Credentials: c.credentials,
		Accepted:    s.wakeUp,
		Watches:     s.watches.Restore,
		Fired:       s.watches.Fired,
		Failed:      s.handshakeFailed,
		NotSet:      s.watches.NotSet,
	}
}

// ownerOfWatches returns the part of the session that its watches need.
func (s *Session) ownerOfWatches() watches.Owner {
	return watches.Owner{
		Context: s.ctx,
		Spawn:   s.client.spawn,
		Judge: func(code int32) (later bool, err error) {
			err = errorOf(code)
			return retryable(err), err
		},
	}
}

// shortestGrant is the shortest session timeout that a server may grant, unless the
// client has asked for less. With a shorter timeout, a client would only request one
// session after the other.
const shortestGrant = 100 * time.Millisecond

// libraryBuffer is enough for everything that the library itself sends and reads:
// handshakes, pings and the end of the session. By default, the library allocates three
// megabytes for each connection.
const libraryBuffer = 4 << 10

// ID returns the server's id of the session, which is the EphemeralOwner of the
// nodes created in it.
func (s *Session) ID() int64 {
	s.client.mu.Lock()
	defer s.client.mu.Unlock()
	return s.id
}

// Timeout returns the session timeout that the server has granted, which may differ from
// WithSessionTimeout. It is 0 if the session has never been connected.
func (s *Session) Timeout() time.Duration {
	_, timeout := s.link.LastContact()
	return timeout
}

// SafetyMargin returns how long before the servers' timeout the client gives the session up:
// the part of the timeout that WithSafetyMargin sets. Within this time, holders of locks must
// stop. SafetyMargin is 0 if the session has never been connected.
func (s *Session) SafetyMargin() time.Duration { return s.client.cfg.margin(s.Timeout()) }

// Context ends when the session is over or can no longer be trusted. The cause
// is ErrSessionLost or ErrClosed.
//
// The context ends before the server can give another client what depends on the session: at
// the latest after nine tenths of the session timeout (see WithSafetyMargin), counted from
// the sending of the last request that a server has answered. This holds if the process runs,
// if its clock is slower than the server's clock by no more than the margin, and if the
// answer proves that the session lives. An answer does not prove that in two cases, which
// WithStrictContact bounds:
//
//   - A server that is partitioned from its ensemble keeps answering.
//   - A follower crashes right after an answer, before it has reported the contact to its
//     leader, and the client reaches no other server. The context then ends too late, by up
//     to a third of the session timeout minus the margin. A margin of 0.4 prevents that.
//
// A suspended machine, such as a laptop or a virtual machine, may wake up long after the
// session has timed out. On Linux, macOS and Windows the context ends within about a second
// of the wake-up. During this second, work under the context overlaps with the next holder.
//
// A stopped process learns of the loss when it runs again. A virtual machine that its host has
// paused without notice learns of the loss only from a server. Work that two processes must
// never do at the same time needs a fencing token; see locks.Lease.FencingToken.
func (s *Session) Context() context.Context { return s.ctx }

// AwaitEnd waits until the session is over. It returns nil if a server has confirmed that the
// session has ended, so that its ephemeral nodes are deleted. Otherwise the error matches
// ErrLeftToServers and the cause of Context; that is also the case if a server has handed out
// another session. After Client.Close, AwaitEnd waits until Close has reached a server or has
// given up. If ctx ends first, the error matches ctx.Err().
func (s *Session) AwaitEnd(ctx context.Context) error {
	if err := awaitClosed(ctx, s.ctx.Done()); err != nil {
		return err
	}
	cause := context.Cause(s.ctx)
	if reason.Is(cause, ErrClosed) {
		if err := awaitClosed(ctx, s.gone); err != nil {
			return err
		}
	}
	if reason.Is(cause, errEndedByServer) || s.ended.Load() {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrLeftToServers, cause)
}

// awaitClosed waits until a channel is closed. It asks the channel first.
func awaitClosed(ctx context.Context, ch <-chan struct{}) error {
	select {
	case <-ch:
		return nil
	default:
	}
	select {
	case <-ch:
		return nil
	case <-ctx.Done():
		return reason.OfContext(ctx)
	}
}

// Trusted returns a context that ends when, by the policy, work that relies on the session must
// stop: at the end of the session, or at the first interruption of the connection after this
// call, with ErrSuspended as the cause.
func (s *Session) Trusted(p state.ErrorPolicy) context.Context {
	if !p.IsError(state.Suspended) {
		return s.ctx
	}
	s.client.mu.Lock()
	defer s.client.mu.Unlock()
	return s.uninterrupted
}

// isOverLocked reports whether the client must ignore the session from now on. The session's
// goroutines continue for a while together with the next session, and their events are out of
// date. client.mu is held.
func (s *Session) isOverLocked() bool { return s.client.session != s || s.ctx.Err() != nil }

// isLostLocked reports whether the session was lost. There may be a pause before the next
// session replaces it. client.mu is held.
func (s *Session) isLostLocked() bool { return !s.lost.IsZero() }

// lateUntil returns the time after which no request of a lost session can be applied. A stalled
// server may pass a request to its leader late. The leader ends the session when it has had no
// contact for the timeout, which servers may round up. The client gives the session up before
// that.
func (s *Session) lateUntil() time.Time {
	timeout := s.Timeout()
	s.client.mu.Lock()
	defer s.client.mu.Unlock()
	return s.lost.Add(2 * timeout)
}

// lived returns the time since the session was established, or 0 if it never was.
func (s *Session) lived() time.Duration {
	s.client.mu.Lock()
	defer s.client.mu.Unlock()
	if s.established.IsZero() {
		return 0
	}
	return max(time.Since(s.established), 1) // some servers lose a session at once
}

func (s *Session) wakeUp() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// address returns the address of the newest connection or attempt to connect.
func (s *Session) address() string {
	s.client.mu.Lock()
	defer s.client.mu.Unlock()
	return s.server
}

// sessionError adds the end of the session or of the client to the error of an unanswered
// request, if that is the reason.
func (s *Session) sessionError(err error) error {
	switch {
	case !IsConnectionError(err):
		return err
	case s.client.ctx.Err() != nil && neverSent(err):
		return ErrClosed
	case s.client.ctx.Err() != nil:
		return errClosedMeanwhile
	case s.ctx.Err() != nil:
		return fmt.Errorf("%w: %w", ErrSessionLost, err)
	default:
		return err
	}
}

// InSession pins operations to one session: it calls f with a context for operations that must all
// run in the session that is connected at the start. An operation of this client, on any view,
// that gets this context or a context derived from it never runs in another session, not even by a
// retry. So ephemeral nodes that one operation has created still belong to the session of the next
// operation. The context ends with the session, and has the session's cause, such as
// ErrSessionLost.
//
// An operation in flight at the end of the session fails like any other: the error of a write may
// match ErrOutcomeUnknown.
//
// InSession waits for a connection as operations do, and returns the error of f. If f fails because
// the context has ended with the session, the error also matches the session's cause. InSession
// does not call f again. To start over in the next session, use a retry loop:
//
//	lost := func(err error) bool { return errors.Is(err, framework.ErrSessionLost) }
//	err := retry.Do(ctx, policy, lost, func(ctx context.Context) error { return client.InSession(ctx, f) })
//
// In the next session, f may find ephemeral nodes of the lost session, because the server deletes
// them later.
func (c *Client) InSession(ctx context.Context, f func(ctx context.Context) error) error {
	if f == nil {
		return &OpError{"session", c.servers(), isNil("function")}
	}
	s, err := c.Session(ctx)
	if err != nil {
		return err
	}
	pinned, cancel := context.WithCancelCause(context.WithValue(ctx, pinKey{c.core}, s))
	stop := context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })
	defer cancel(nil)
	defer stop()
	err = f(pinned)
	cause := context.Cause(s.ctx)
	endedWithSession := cause != nil && ctx.Err() == nil && reason.Is(err, context.Canceled)
	if endedWithSession && !reason.Is(err, cause) {
		err = fmt.Errorf("%w: %w", cause, err)
	}
	return err
}

// checkPin returns an error if operations with this context are pinned to another
// session. That session is over; the context ends with the session, but a moment later.
func (s *Session) checkPin(ctx context.Context) error {
	pinned := s.client.pinOf(ctx)
	if pinned == nil || pinned == s {
		return nil
	}
	return pinned.lostPin()
}

// pinOf returns the session that operations with this context are pinned to, or nil.
func (c *Client) pinOf(ctx context.Context) *Session {
	pinned, _ := ctx.Value(pinKey{c.core}).(*Session)
	return pinned
}

// lostPin returns the error of an operation that is pinned to a session that is over. The
// operation's context has the same error, or is about to have it.
func (s *Session) lostPin() error {
	return fmt.Errorf("%w: %w", context.Canceled, context.Cause(s.ctx))
}

// pinKey is the context key of the pinned session, for each client.
type pinKey struct{ *core }
