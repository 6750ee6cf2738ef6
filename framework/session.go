package framework

import (
	"context"
	"fmt"
	"runtime"
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

// AfterTrust calls f after the context trusted, which Trusted has returned, and all contexts
// derived from it have ended. AfterTrust is for work that can wait: when a session is lost,
// thousands of holders may have to stop first.
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

// checkPin returns an error if operations with this context are pinned to another
// session. That session is over; the context ends with the session, but a moment later.
func (s *Session) checkPin(ctx context.Context) error {
	pinned := s.client.pinOf(ctx)
	if pinned == nil || pinned == s {
		return nil
	}
	return pinned.lostPin()
}

// lostPin returns the error of an operation that is pinned to a session that is over. The
// operation's context has the same error, or is about to have it.
func (s *Session) lostPin() error {
	return fmt.Errorf("%w: %w", context.Canceled, context.Cause(s.ctx))
}

// goOn waits until the session has another connection.
func (s *Session) goOn(ctx context.Context) error {
	if s.ctx.Err() == nil {
		if now, err := s.client.connectedSession(ctx); now == s || err != nil {
			return err
		}
	}
	return s.watches.EndError()
}
