package framework

import (
	"context"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/connstate"
	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/internal/watches"
	"github.com/gocurator/curator/internal/reason"
)

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

// ownerOfWatches is the session as its watches see it.
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

// disconnected is called when a connection has ended, and when an attempt to
// make one has failed, with the attempt's error.
func (s *Session) disconnected(attempt error) {
	if outage := s.noteDisconnected(attempt); outage > 0 {
		s.client.logOutage(outage, attempt)
	}
}

// handshakeFailed is disconnected for an attempt whose connection ended before the
// session was accepted. If the server has hung up, the error says why it may have
// done so: a TLS port answers nothing else to a client without TLS.
func (s *Session) handshakeFailed(attempt error) {
	hungUp := reason.Is(attempt, io.EOF) || reason.Is(attempt, syscall.ECONNRESET)
	if hungUp && s.client.cfg.tls == nil {
		attempt = fmt.Errorf("%w (the server may expect TLS, have no quorum, or have too many connections)", attempt)
	}
	s.disconnected(attempt)
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
