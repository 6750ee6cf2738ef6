package framework

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/connstate"
	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/internal/watches"
	"github.com/gocurator/curator/state"
)

// Session is one ZooKeeper session of a client, from its first connection to
// its end. Nodes that were created in a session, ephemeral ones above all, must
// not be trusted outside of it.
type Session struct {
	client     *Client
	epoch      uint64
	conn       *zk.Conn
	ready      chan struct{} // closed when conn is set; the library's goroutines wait for it
	drain      <-chan zk.Event
	link       *transport.Link
	hosts      *hosts
	watches    *watches.Session
	ephemerals ephemerals
	search     searches
	begun      time.Time
	wake       chan struct{} // capacity 1: the deadline has changed

	ctx    context.Context // ends with the session
	cancel context.CancelCauseFunc

	lastConn chan struct{} // closed when the library has the connection on which it ends
	closing  atomic.Bool   // close has been called
	gone     chan struct{} // closed when nothing of the session is left in this process

	suspendMu sync.Mutex    // protects the following field
	suspended time.Duration // the suspend clock, when it was last read

	// Protected by client.mu.
	id            int64
	server        string          // address of the newest connection or attempt
	established   time.Time       // for the first time
	lost          time.Time       // when its context has ended
	uninterrupted context.Context // ends with the session or with the connection, whichever is first
	interrupt     context.CancelCauseFunc

	afterEnd, afterInterruption afterFuncs // of ctx, and of uninterrupted; protected by client.mu
}

// ID returns the server's id of the session, which is the EphemeralOwner of the
// nodes created in it.
func (s *Session) ID() int64 {
	s.client.mu.Lock()
	defer s.client.mu.Unlock()
	return s.id
}

// Timeout returns the session timeout that the server has granted, which may be
// another than WithSessionTimeout asked for. It is 0 if the session has never
// been connected.
func (s *Session) Timeout() time.Duration {
	_, timeout := s.link.LastContact()
	return timeout
}

// SafetyMargin returns how long before the servers can end it the session is
// given up: the part of its timeout that WithSafetyMargin sets. Holders that
// were told of the loss have this time to stop. It is 0 if the session has
// never been connected.
func (s *Session) SafetyMargin() time.Duration { return s.client.cfg.margin(s.Timeout()) }

// Epoch counts the sessions of a client from 1.
func (s *Session) Epoch() uint64 { return s.epoch }

// Context ends when the session is over or can no longer be trusted. The cause
// is ErrSessionLost or ErrClosed.
//
// It ends before the server can give away what depends on the session: at the
// latest nine tenths of the session timeout, or what WithSafetyMargin leaves of
// it, after the last request was sent that a server answered. That holds if
// this process runs, if its clock is slower than the server's by no more than
// the margin, and if the server's answer proves that the session lives. An
// answer does not prove that in two cases, which WithStrictContact bounds:
//
//   - A server that is cut off from the rest of its ensemble goes on answering.
//   - A follower dies right after an answer, before it has told its leader, and
//     no other server is reached. The context then ends too late, by up to a
//     third of the session timeout less the margin. A margin of 0.4 is enough
//     against that.
//
// A machine that was suspended, such as a laptop or a virtual machine, may wake
// up when the session's time has been over for long. On Linux, macOS and
// Windows the context ends within about a second of that. In this second, work
// under it goes on beside the next holder's.
//
// A process that was stopped learns nothing until it runs again. A virtual
// machine that its host has paused without telling the guest learns it only
// from a server. Work that must not be done by two at a time needs a fencing
// token; see locks.Lease.FencingToken.
func (s *Session) Context() context.Context { return s.ctx }

// Trusted returns a context that ends as soon as the policy says that what was
// built on the session must be given up: with the session, or at the first
// interruption of the connection after this call, with ErrSuspended as its
// cause.
func (s *Session) Trusted(p state.ErrorPolicy) context.Context {
	if !p.IsError(state.Suspended) {
		return s.ctx
	}
	s.client.mu.Lock()
	defer s.client.mu.Unlock()
	return s.uninterrupted
}

// startSession replaces the client's session by a new one that begins to
// connect.
func (c *Client) startSession(epoch uint64) *Session {
	s := &Session{
		client:   c,
		epoch:    epoch,
		ready:    make(chan struct{}),
		begun:    time.Now(),
		wake:     make(chan struct{}, 1),
		lastConn: make(chan struct{}),
		gone:     make(chan struct{}),
	}
	s.suspended = c.cfg.suspended()
	s.ctx, s.cancel = context.WithCancelCause(c.ctx)
	s.uninterrupted, s.interrupt = context.WithCancelCause(s.ctx)
	s.hosts = newHosts(c.serverList.servers())
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
		zk.WithLogger(libraryLogger{c.cfg.logger}),
		zk.WithMaxBufferSize(libraryBuffer),
		zk.WithMaxConnBufferSize(libraryBuffer),
	)
	if err != nil { // only for an empty server list or a failing Init, and there is neither
		panic("framework: zk.Connect: " + err.Error())
	}
	s.conn, s.drain = conn, events
	close(s.ready)
	return s
}

// retire ends what the session before learns, and returns LastZxid. An answer that
// arrives over its connection later reaches no caller: the next session does not
// know of as much, and could read what is older.
func (c *Client) retire() (lastZxid int64) {
	c.mu.Lock()
	s, earlier := c.session, c.earlierZxid
	c.mu.Unlock()
	if s == nil {
		return earlier
	}
	return max(earlier, s.link.Retire())
}

// linkConfig returns what the session's connections need to know of it. They
// may call its functions when the session is over, and the next one is there.
func (s *Session) linkConfig(seen int64) transport.Config {
	c := s.client
	return transport.Config{
		Seen:            seen,
		LeaderConfirmed: c.cfg.strictContact,
		// The library asks for whole milliseconds.
		MinTimeout:  min(shortestGrant, c.cfg.sessionTimeout.Truncate(time.Millisecond)),
		MaxRequest:  c.cfg.maxRequest,
		Credentials: c.credentials,
		Accepted:    s.wakeUp,
		Watches:     s.watches.Restore,
		Fired:       s.watches.Fired,
		Failed:      s.disconnected,
		Ended:       s.endedWith,
		Answered:    s.answered,
	}
}

// shortestGrant is the shortest session timeout that a server may grant, unless
// less was asked for. Below it, a client does nothing but ask for one session
// after the other.
const shortestGrant = 100 * time.Millisecond

// libraryBuffer is enough for all that the library sends and reads itself:
// handshakes, pings and the end of the session. By default it allocates three
// megabytes for each connection.
const libraryBuffer = 4 << 10

// Causes with which the context of a lost session ends.
var (
	errEndedByServer = fmt.Errorf("%w: the server has ended it", ErrSessionLost)
	errTimeUp        = fmt.Errorf("%w: no answer within its time", ErrSessionLost)
)

// event is the library's callback: serial, in order, and on goroutines that
// must not be held up.
func (s *Session) event(ev zk.Event) {
	switch ev.State {
	case zk.StateHasSession:
		s.connected()
	case zk.StateDisconnected:
		s.disconnected(nil)
	case zk.StateExpired:
		s.end(errEndedByServer)
	}
}

// connected is called when a server has accepted the session.
func (s *Session) connected() {
	<-s.ready
	c := s.client
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.isOverLocked() {
		return
	}
	s.id = s.conn.SessionID()
	if s.established.IsZero() {
		s.established = time.Now()
	}
	c.attemptedLocked(nil)
	c.attempts.connected(s.server)
	if s.uninterrupted.Err() != nil {
		s.uninterrupted, s.interrupt = context.WithCancelCause(s.ctx)
	}
	c.publishLocked(c.machine.Apply(connstate.Established(s.id)))
}

// isOverLocked reports whether the client must not heed the session any more.
// Its goroutines go on for a while beside the next session, and what they have
// to tell is of the past. client.mu is held.
func (s *Session) isOverLocked() bool { return s.client.session != s || s.ctx.Err() != nil }

// disconnected is called when a connection has ended, and when an attempt to
// make one has failed, with the attempt's error.
func (s *Session) disconnected(attempt error) {
	if outage := s.noteDisconnected(attempt); outage > 0 {
		s.client.logOutage(outage, attempt)
	}
}

// noteDisconnected reports how long the outage has lasted when that is to be
// logged, else 0.
func (s *Session) noteDisconnected(attempt error) (outage time.Duration) {
	c := s.client
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.isOverLocked() {
		return 0
	}
	if attempt != nil {
		outage = c.attemptedLocked(attempt)
		c.attempts.failed(s.server, attempt)
	}
	s.interrupt(ErrSuspended)
	s.runAfterFuncsLocked()
	c.publishLocked(c.machine.Apply(connstate.Disconnected()))
	return outage
}

// end makes the session untrusted for good and stops the library from starting
// another one by itself: from here on dial has no connection to a server for
// it.
func (s *Session) end(cause error) {
	defer s.watches.End()
	c := s.client
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.ctx.Err() != nil {
		return
	}
	s.lost = time.Now()
	s.cancel(cause)
	s.runAfterFuncsLocked()
	c.publishLocked(c.machine.Apply(connstate.Expired()))
}

// lateUntil is when no request of a session that is lost can be applied any more.
// A server may stall with one, and hand it on to its leader later. The leader
// ends the session when it has not heard of the client for the timeout, which
// servers may round up. The client has ended its part before.
func (s *Session) lateUntil() time.Time {
	timeout := s.Timeout()
	s.client.mu.Lock()
	defer s.client.mu.Unlock()
	return s.lost.Add(2 * timeout)
}

// lived returns how long it is since the session was established, or 0 if it
// has never been.
func (s *Session) lived() time.Duration {
	s.client.mu.Lock()
	defer s.client.mu.Unlock()
	if s.established.IsZero() {
		return 0
	}
	return max(time.Since(s.established), 1) // some servers lose it in no time
}

func (s *Session) wakeUp() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
