package framework

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"syscall"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/internal/pauses"
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

// supervise owns the client's sessions: when a session is over, it starts the next one.
func (c *Client) supervise() {
	between := newSessionBackoff()
	for c.ctx.Err() == nil {
		s := c.startSession()
		c.spawn(func(context.Context) { s.watches.LookAgain() })
		s.superviseDeadline()
		lived := s.lived()
		if !c.spawn(func(context.Context) { s.close() }) {
			s.close() // the client was closed meanwhile, and Close may not know of this session
		}
		_ = pauses.Sleep(c.ctx, between.after(lived))
	}
}

// sessionBackoff computes the pause before the next session. Pauses are necessary with
// a server that grants sessions and loses them at once, or with a balancer between two
// ensembles: each session costs a handshake, and the library allocates one and a half
// megabytes.
type sessionBackoff struct {
	pauses backoff.BackOff
	losses int // the number of short sessions lost in a row
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

// after returns the pause after a session that has lived for the given time, which is 0
// if the session was never connected. There is no pause after the first loss, because
// callers are already waiting.
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

// superviseDeadline ends the session when its time is up, and returns when the session
// has ended for any reason.
//
// Go's timers stand still while the machine is suspended, so they are late afterwards.
// While there is a session to lose, superviseDeadline reads the client's clock every
// second.
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

// afterFuncs are functions to call when a context of a session has ended. takeBack removes one
// function, and the end of the context removes all. Protected by client.mu.
type afterFuncs map[*afterFunc]struct{}

type afterFunc struct{ call func() }

// run calls the functions. It yields first, because the scheduler prefers new goroutines, and
// the goroutines that wait for the end of the context should run before the functions.
func (fs afterFuncs) run() {
	runtime.Gosched()
	for f := range fs {
		f.call()
	}
}

// AfterTrust calls f when trusted, a context that Trusted has returned, and all contexts derived
// from it have ended. AfterTrust is for work that can wait: when a session is lost, thousands of
// holders may have to stop first.
//
// f must not block. The client calls f in a goroutine that Client.Close waits for, or AfterTrust
// calls f itself if trusted has already ended. stop prevents the call, and reports whether it
// did.
func (s *Session) AfterTrust(trusted context.Context, f func()) (stop func() bool) {
	c := s.client
	c.mu.Lock()
	if trusted.Err() != nil {
		c.mu.Unlock()
		f()
		return func() bool { return false }
	}
	defer c.mu.Unlock()
	on := &s.afterInterruption
	if trusted == s.ctx {
		on = &s.afterEnd
	}
	if *on == nil {
		*on = afterFuncs{}
	}
	added := &afterFunc{f}
	(*on)[added] = struct{}{}
	return func() bool { return s.takeBack(on, added) }
}

func (s *Session) takeBack(on *afterFuncs, f *afterFunc) bool {
	s.client.mu.Lock()
	defer s.client.mu.Unlock()
	_, there := (*on)[f]
	delete(*on, f)
	return there
}

// runAfterFuncsLocked calls the functions of contexts that have ended. client.mu is held, and was
// held when the contexts ended. So no function can be added after this call.
func (s *Session) runAfterFuncsLocked() {
	var due []afterFuncs
	if s.ctx.Err() != nil && len(s.afterEnd) > 0 {
		due = append(due, s.afterEnd)
		s.afterEnd = nil
	}
	if s.uninterrupted.Err() != nil && len(s.afterInterruption) > 0 {
		due = append(due, s.afterInterruption)
		s.afterInterruption = nil
	}
	for _, fs := range due {
		s.afterFuncs.Add(1)
		s.client.goroutines.Go(func() {
			defer s.afterFuncs.Done()
			fs.run()
		})
	}
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
