package framework

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"syscall"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/internal/watches"
	"github.com/gocurator/curator/framework/sasl"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/semconv"
	"github.com/gocurator/curator/state"
)

// These are the causes of the context of a lost session.
var (
	errEndedByServer = fmt.Errorf("%w: the server has ended it", ErrSessionLost)
	errReplaced      = fmt.Errorf("%w: a server has granted another session", ErrSessionLost)
	errTimeUp        = fmt.Errorf("%w: no answer within its time", ErrSessionLost)
)

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

// shortestGrant is the shortest session timeout that a server may grant, unless the
// client has asked for less. With a shorter timeout, a client would only request one
// session after the other.
const shortestGrant = 100 * time.Millisecond

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

// event is the library's callback. Calls are serial and in order, and run on goroutines
// that must not be blocked.
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
	c.publishLocked(c.machine.Established(s.id))
}

// disconnected is called when a connection has ended or an attempt to connect has
// failed, with the attempt's error.
func (s *Session) disconnected(attempt error) {
	if outage := s.noteDisconnected(attempt); outage > 0 {
		s.client.log(slog.LevelWarn, "zookeeper servers cannot be reached",
			slog.Duration(semconv.OutageDuration, outage), slog.Any(semconv.Cause, attempt))
	}
}

// handshakeFailed is disconnected for an attempt whose connection ended before the
// session was accepted. If the server has hung up, the error lists possible reasons:
// for example, a TLS port just hangs up on a client without TLS.
func (s *Session) handshakeFailed(attempt error) {
	hungUp := reason.Is(attempt, io.EOF) || reason.Is(attempt, syscall.ECONNRESET)
	if hungUp && s.client.cfg.tls == nil {
		attempt = fmt.Errorf("%w (the server may expect TLS, have no quorum, or have too many connections)", attempt)
	}
	s.disconnected(attempt)
}

// noteDisconnected returns the duration of the outage if the outage must be logged,
// otherwise 0.
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
	c.publishLocked(c.machine.Disconnected())
	return outage
}

// end makes the session untrusted for good, and prevents the library from starting
// another session by itself: from now on, dial returns no connection to a server.
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
	c.publishLocked(c.machine.Expired())
}

// superviseDeadline ends the session when its time is up, and returns when the session
// has ended for any reason.
//
// Go's timers stand still while the machine is suspended, so they are late afterwards.
// While there is a session to lose, superviseDeadline reads the client's clock every
// second.
func (s *Session) superviseDeadline() {
	timer := time.NewTimer(suspensionPoll)
	defer timer.Stop()
	for {
		left, established := s.timeLeft()
		switch {
		case left <= 0 && established:
			s.end(errTimeUp)
			return
		case left <= 0: // no session to lose yet, but listeners are notified
			s.neverConnected()
			left = s.client.cfg.sessionTimeout
		}
		if established {
			left = min(left, suspensionPoll)
		}
		timer.Reset(left)
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

// now is the client's clock, which includes suspensions of the machine. It also
// corrects stamp.
func (c *core) now() time.Time {
	slept := c.cfg.suspended()
	c.slept.Store(int64(slept))
	return time.Now().Add(slept)
}

// stamp is the client's clock for requests, without a system call. After a suspension,
// stamp is late until the next call of now. So a request looks older than it is, which
// is safe: its answer proves less than it could.
func (c *core) stamp() time.Time { return time.Now().Add(time.Duration(c.slept.Load())) }

// timeLeft returns how long the session can still be trusted. Before the session is
// established, timeLeft returns the time until the server would have ended it.
func (s *Session) timeLeft() (left time.Duration, established bool) {
	contact, timeout := s.link.LastContact()
	if timeout == 0 {
		return time.Until(s.begun.Add(s.client.cfg.sessionTimeout)), false
	}
	silence := s.client.now().Sub(contact)
	return timeout - s.client.cfg.margin(timeout) - silence, true
}

// neverConnected reports the state Lost to listeners, because a server would have ended
// a session by now. It does nothing if there is a session by now, connected or not,
// which has its own deadline.
func (s *Session) neverConnected() {
	c := s.client
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.established.IsZero() && !s.isOverLocked() {
		c.publishLocked(c.machine.Expired())
	}
}

// IsInTime reports whether the session can be trusted now. The session's context ends
// slightly later than its time, when a goroutine notices that; on a machine that was
// suspended, that takes up to a second. Use IsInTime before relying on the session
// without making a request.
func (s *Session) IsInTime() bool {
	left, established := s.timeLeft()
	return established && left > 0 && s.ctx.Err() == nil
}

// publishLocked appends to the transitions. c.mu is held.
func (c *core) publishLocked(states []state.State) {
	for _, s := range states {
		change := c.changeLocked(s)
		c.last = c.last.Append(change)
		for _, h := range hookStateChanged.Of(c.root) {
			c.emitter.post(func() { h.StateChanged(change) })
		}
	}
}

func (c *core) changeLocked(s state.State) clienttrace.StateChange {
	change := clienttrace.StateChange{
		Client: Extend(c.root), State: s, Time: time.Now(),
		SessionID: c.session.id, Server: c.session.server,
	}
	if !s.IsConnected() {
		change.Cause = c.attempt
	}
	if s == state.Lost && c.session.ctx.Err() != nil {
		change.Cause = context.Cause(c.session.ctx)
	}
	return change
}

const (
	// closeTimeout is how long Close tries to end the session on the server.
	closeTimeout = time.Second

	// closeRequestTimeout is the longest time that one server may take to answer. The
	// connection may already be dead.
	closeRequestTimeout = closeTimeout / 2

	// minEndTimeout is the shortest time that one server has to end a session before
	// the next one is asked.
	minEndTimeout = 200 * time.Millisecond
)

// close returns when no part of the session is left in this process. If the client
// gives up the session by itself, close ends the session at a server, if one can be
// reached. A lost session is left to the servers: its holders have only just been asked
// to stop, and have the rest of the timeout for that.
func (s *Session) close() {
	if s.closing.Swap(true) { // no sync.Once, which would hold a mutex across I/O
		<-s.gone
		return
	}
	<-s.ready
	s.watches.End()
	if !reason.Is(context.Cause(s.ctx), ErrSessionLost) {
		s.endOnServer()
	}
	s.link.Close()
	<-s.lastConn
	s.conn.Close()
	for range s.drain { // the library closes the channel at its very end
	}
	close(s.gone)
}

// endOnServer ends the session at a server: on the present connection or, if there is
// none or it is silent, on a separate connection. Otherwise the session would keep its
// nodes, and so block locks, for the whole timeout, for example in a rolling restart,
// when clients are closed while they have no connection.
//
// If some nodes must stay, endOnServer deletes the other nodes and leaves the session
// to the server. A holder whose work was just ended by an interruption may be calling
// KeepUntil at this moment.
func (s *Session) endOnServer() {
	s.afterFuncs.Wait()
	kept := s.kept.now()
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if len(kept) == 0 && s.requestEnd() {
		s.ended.Store(true)
		return
	}
	s.link.Close() // a handshake under way would resume the session meanwhile
	if who := s.link.Identity(); who.ID != 0 {
		s.endSomewhere(ctx, who, kept)
	}
}

// requestEnd asks for the end of the session on the present connection, and reports
// whether the server has confirmed the end.
func (s *Session) requestEnd() bool {
	call := s.link.CloseSession()
	if call == nil {
		return false
	}
	silence := time.NewTimer(closeRequestTimeout)
	defer silence.Stop()
	select {
	case <-call.Done():
		code, _, _, err := call.Answer()
		return err == nil && code == proto.CodeOK
	case <-silence.C:
		return false
	}
}

// endSomewhere asks one server after the other to end the session, until one succeeds
// or ctx ends. If some nodes are kept, endSomewhere deletes all others instead, and the
// session stays.
func (s *Session) endSomewhere(ctx context.Context, who transport.Identity, kept map[string]bool) {
	for ctx.Err() == nil {
		for left := s.hosts.Len(); left > 0 && ctx.Err() == nil; left-- {
			deadline, _ := ctx.Deadline()
			share := min(max(time.Until(deadline)/time.Duration(left), minEndTimeout), closeRequestTimeout)
			e := transport.EndSessionOptions{
				Identity: who, Credentials: s.client.credentials(),
				IOTimeout: share, Stay: len(kept) > 0, Keep: kept,
			}
			if s.client.endAt(ctx, s.hosts.take(), s.client.cfg.sasl, e) == nil {
				s.ended.Store(!e.Stay)
				return
			}
		}
		select { // the servers may be about to start
		case <-time.After(shortestRoundPause):
		case <-ctx.Done():
		}
	}
}

// endAt ends a session at one server. Unless m is nil, m authenticates the client.
func (c *Client) endAt(ctx context.Context, address string, m sasl.Mechanism, e transport.EndSessionOptions) error {
	dialing, cancel := context.WithTimeout(ctx, e.IOTimeout)
	defer cancel()
	nc, err := c.cfg.connect(dialing, "tcp", address)
	if err != nil {
		return err
	}
	if e.SASL, err = startSASL(dialing, m, nc, address); err != nil {
		return err
	}
	return transport.EndSession(ctx, nc, e)
}

// endOrphan ends the session that a failed attempt to connect has left at a server. The
// server had granted the session, but the connection ended before the handshake was over,
// for example because the server refused the credentials. endOrphan does not use SASL,
// which the server would refuse again. A server that requires authentication of every
// request keeps the session for its timeout.
func (s *Session) endOrphan() {
	who, ok := s.link.OrphanedSession()
	if !ok {
		return
	}
	timeout := min(s.attemptTimeout(), closeTimeout)
	ctx, cancel := context.WithTimeout(s.ctx, timeout)
	defer cancel()
	s.client.endAt(ctx, s.address(), nil, transport.EndSessionOptions{Identity: who, IOTimeout: timeout})
	if s.ctx.Err() == nil { // otherwise close may still have to end the orphan
		s.link.ForgetSession()
	}
}
