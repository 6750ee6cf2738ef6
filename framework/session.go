package framework

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/state"
)

// Session is one ZooKeeper session of a client, from its first connection to its end. What was created in a session,
// ephemeral nodes above all, must not be trusted outside of it.
type Session struct {
	client *Client
	epoch  uint64
	conn   *zk.Conn
	ready  chan struct{} // closed when conn is set; the library's goroutines wait for it
	drain  <-chan zk.Event
	link   *transport.Link
	hosts  *hosts
	watch  *watches
	begun  time.Time
	wake   chan struct{} // capacity 1: the deadline has changed

	ctx    context.Context // ends with the session
	cancel context.CancelCauseFunc

	closing atomic.Bool   // close has been called
	gone    chan struct{} // closed when nothing of the session is left in this process

	// Protected by client.mu.
	id            int64
	server        string          // address of the newest connection or attempt
	uninterrupted context.Context // ends with the session or with the connection, whichever is first
	interrupt     context.CancelCauseFunc
}

// ID returns the server's id of the session, which is the EphemeralOwner of the nodes created in it.
func (s *Session) ID() int64 {
	s.client.mu.Lock()
	defer s.client.mu.Unlock()
	return s.id
}

// Timeout returns the session timeout that the server has granted, which may be another than WithSessionTimeout asked
// for. It is 0 if the session has never been connected.
func (s *Session) Timeout() time.Duration {
	_, timeout := s.link.Contact()
	return timeout
}

// Epoch counts the sessions of a client from 1.
func (s *Session) Epoch() uint64 { return s.epoch }

// Context ends when the session is over or can no longer be trusted. Its cause is ErrSessionLost or ErrClosed.
//
// It ends before the server can give away what depends on the session: at the latest nine tenths of the session
// timeout, or what WithSafetyMargin leaves of it, after the last request was sent that a server answered. That holds if
// this process runs and its clock is slower than the server's by no more than the margin. It does not bound a server
// that is cut off from the rest of its ensemble and goes on answering; WithStrictContact does. Nothing bounds a process
// that was stopped; there is only a fencing token.
func (s *Session) Context() context.Context { return s.ctx }

// Trusted returns a context that ends as soon as the policy says that what was built on the session must be given up:
// with the session, or at the first interruption of the connection after this call, with ErrSuspended as its cause.
func (s *Session) Trusted(p state.ErrorPolicy) context.Context {
	if !p.IsError(state.Suspended) {
		return s.ctx
	}
	s.client.mu.Lock()
	defer s.client.mu.Unlock()
	return s.uninterrupted
}

// startSession replaces the client's session by a new one that begins to connect.
func (c *Client) startSession(epoch uint64) *Session {
	s := &Session{
		client: c,
		epoch:  epoch,
		ready:  make(chan struct{}),
		begun:  time.Now(),
		wake:   make(chan struct{}, 1),
		gone:   make(chan struct{}),
	}
	s.ctx, s.cancel = context.WithCancelCause(c.ctx)
	s.uninterrupted, s.interrupt = context.WithCancelCause(s.ctx)
	s.hosts = newHosts(c.ensemble.servers(), func() bool { return s.ctx.Err() != nil })
	s.watch = newWatches(s)
	s.link = transport.NewLink(transport.Config{
		Strict:      c.cfg.strictContact,
		MaxRequest:  c.cfg.maxRequest,
		Credentials: c.credentials,
		Accepted:    s.wakeUp,
		Watches:     s.watch.restore,
		Fired:       s.watch.fired,
		Failed:      s.disconnected,
	})

	c.mu.Lock()
	c.session = s
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

// libraryBuffer is enough for all that the library sends and reads itself: handshakes, pings and the end of the session.
// By default it allocates three megabytes for each connection.
const libraryBuffer = 4 << 10

// event is the library's callback: serial, in order, and on goroutines that must not be held up.
func (s *Session) event(ev zk.Event) {
	switch ev.State {
	case zk.StateHasSession:
		s.established()
	case zk.StateDisconnected:
		s.disconnected(nil)
	case zk.StateExpired:
		s.end(errEndedByServer)
	}
}

func (s *Session) established() {
	<-s.ready
	c := s.client
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session != s || s.ctx.Err() != nil {
		return
	}
	s.id = s.conn.SessionID()
	c.attemptedLocked(nil, false)
	if s.uninterrupted.Err() != nil {
		s.uninterrupted, s.interrupt = context.WithCancelCause(s.ctx)
	}
	c.publishLocked(c.machine.Apply(state.Established(s.id)))
}

func (s *Session) disconnected(attempt error) {
	var auth *transport.AuthError
	refused := errors.As(attempt, &auth)
	c := s.client
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session != s || s.ctx.Err() != nil {
		return
	}
	if attempt != nil {
		c.attemptedLocked(attempt, refused)
	}
	s.interrupt(ErrSuspended)
	c.publishLocked(c.machine.Apply(state.Disconnected()))
}

// end makes the session untrusted for good and stops the library from starting another one by itself: from here on
// dial refuses and hosts tells it to start over.
func (s *Session) end(cause error) {
	defer s.watch.end()
	c := s.client
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.ctx.Err() != nil {
		return
	}
	s.cancel(cause)
	c.publishLocked(c.machine.Apply(state.Expired()))
}

// superviseDeadline ends the session when its time is up and returns when it has ended, for whatever reason.
func (s *Session) superviseDeadline() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		left, established := s.timeLeft()
		switch {
		case left <= 0 && established:
			s.end(errTimeUp)
		case left <= 0: // there is nothing to lose yet, but listeners are told that the time is up
			s.neverConnected()
			left = s.client.cfg.sessionTimeout
		}
		timer.Reset(max(left, 0))
		select {
		case <-s.ctx.Done():
			return
		case <-timer.C:
		case <-s.wake:
		}
	}
}

// timeLeft returns how long the session can still be trusted. Before it is established that is the time until the
// server would have ended it.
func (s *Session) timeLeft() (left time.Duration, established bool) {
	contact, timeout := s.link.Contact()
	if timeout == 0 {
		return time.Until(s.begun.Add(s.client.cfg.sessionTimeout)), false
	}
	return time.Until(contact.Add(timeout - s.client.cfg.margin(timeout))), true
}

func (s *Session) neverConnected() {
	c := s.client
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.last.Value.State.IsConnected() {
		c.publishLocked(c.machine.Apply(state.Expired()))
	}
}

func (s *Session) wakeUp() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// close returns when nothing of the session is left in this process. A session that the client gives up by itself is
// ended on the server, if that can be reached. One that was lost is left to the server: its holders have only just been
// told to stop, and what is left of the timeout is the time they have for that.
func (s *Session) close() {
	if s.closing.Swap(true) { // no sync.Once: others would wait on a mutex that is held across I/O
		<-s.gone
		return
	}
	<-s.ready
	s.watch.end()
	if errors.Is(context.Cause(s.ctx), ErrSessionLost) {
		s.link.Close()
	}
	s.conn.Close() // sends the request and waits up to a second for the answer
	s.link.Close()
	for range s.drain { // closed by the library as the last thing it does
	}
	close(s.gone)
}

// libraryLogger passes the library's messages on.
type libraryLogger struct {
	to interface{ Debug(string, ...any) }
}

// Printf implements zk.Logger.
func (l libraryLogger) Printf(format string, args ...any) {
	l.to.Debug("go-zookeeper: " + fmt.Sprintf(format, args...))
}
