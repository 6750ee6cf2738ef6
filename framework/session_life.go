package framework

import (
	"context"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/connstate"
	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/internal/watches"
	"github.com/gocurator/curator/internal/reason"
)

// startSession replaces the client's session by a new one that begins to
// connect.
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
		zk.WithLogger(libraryLogger{c.core}),
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
	errReplaced      = fmt.Errorf("%w: a server has granted another session", ErrSessionLost)
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
		if s.link.Replaced() {
			s.end(errReplaced)
			return
		}
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

// sessionBackoff decides how long to wait before the next session. A server
// that grants sessions and loses them at once, again and again, or a balancer
// between two ensembles, must not be asked for the next one without a pause:
// each takes a handshake, and the library allocates one and a half megabytes
// for it.
type sessionBackoff struct {
	pauses backoff.BackOff
	losses int // how many short sessions were lost in a row
}

const (
	// settledSession is how long a session must live to reset the pauses.
	settledSession = longestRoundPause

	shortestSessionPause = 100 * time.Millisecond
	longestSessionPause  = 10 * time.Second
)

func newSessionBackoff() *sessionBackoff {
	return &sessionBackoff{pauses: newPauses(shortestSessionPause, longestSessionPause)}
}

// after returns the pause after a session that has lived for a time, which is 0
// if it has never been connected. There is no pause after the first loss:
// callers that wait for the session have lost enough already.
func (b *sessionBackoff) after(lived time.Duration) time.Duration {
	if lived >= settledSession {
		b.pauses.Reset()
		b.losses = 0
		return 0
	}
	b.losses++
	switch {
	case lived == 0: // a server that rejects new sessions
		return max(b.pauses.NextBackOff(), longestRoundPause)
	case b.losses == 1:
		return 0
	default:
		return b.pauses.NextBackOff()
	}
}

// superviseDeadline ends the session when its time is up and returns when it
// has ended, for whatever reason.
//
// Go's timers stand still while the machine is suspended, so that none of them
// is right afterwards. While there is a session to lose, superviseDeadline looks
// at the client's clock every second.
func (s *Session) superviseDeadline() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		left, established := s.timeLeft()
		switch {
		case left <= 0 && established:
			s.end(errTimeUp)
		case left <= 0: // no session to lose yet, but listeners are notified
			s.neverConnected()
			left = s.client.cfg.sessionTimeout
		}
		if established {
			left = min(left, suspensionPoll)
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

// suspensionPoll is how often the client's clock is read.
const suspensionPoll = time.Second

// now is the client's clock, which goes on while the machine is suspended. It also
// corrects stamp.
func (c *core) now() time.Time {
	slept := c.cfg.suspended()
	c.slept.Store(int64(slept))
	return time.Now().Add(slept)
}

// stamp is the client's clock for requests. It costs no call of the operating system.
// After a suspension it is late until the next call of now. So a request looks older
// than it is, and its answer proves less than it could.
func (c *core) stamp() time.Time { return time.Now().Add(time.Duration(c.slept.Load())) }

// timeLeft returns how long the session can still be trusted. Before it is
// established that is the time until the server would have ended it.
func (s *Session) timeLeft() (left time.Duration, established bool) {
	contact, timeout := s.link.LastContact()
	if timeout == 0 {
		return time.Until(s.begun.Add(s.client.cfg.sessionTimeout)), false
	}
	silence := s.client.now().Sub(contact)
	return timeout - s.client.cfg.margin(timeout) - silence, true
}

// neverConnected tells listeners that the server would have ended the session, if
// there were one. It does nothing if there is one by now, connected or not: that
// is not lost before its own time.
func (s *Session) neverConnected() {
	c := s.client
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.established.IsZero() && !s.isOverLocked() {
		c.publishLocked(c.machine.Apply(connstate.Expired()))
	}
}

// IsInTime reports whether the session can be trusted now. Its context ends a
// moment after its time is up: when its goroutine has noticed that, which takes
// up to a second on a machine that was suspended. IsInTime is for code that is
// about to build on the session without a request, whose answer would tell.
func (s *Session) IsInTime() bool {
	left, established := s.timeLeft()
	return established && left > 0 && s.ctx.Err() == nil
}
