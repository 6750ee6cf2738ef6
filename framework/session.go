package framework

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/internal/watches"
	"github.com/gocurator/curator/internal/hooks"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/state"
)

// Session is one ZooKeeper session of a client, from its first connection to
// its end. Nodes that were created in a session, ephemeral ones above all, must
// not be trusted outside of it. The zero Session cannot be used: Client.Session
// returns one.
type Session struct {
	client     *Client
	conn       *zk.Conn
	ready      chan struct{} // closed when conn is set; the library's goroutines wait for it
	drain      <-chan zk.Event
	link       *transport.Link
	hosts      *hosts
	watches    *watches.Session
	ephemerals ephemerals
	kept       keptNodes
	search     searches
	hangUps    hangUps
	begun      time.Time
	wake       chan struct{} // capacity 1: the deadline has changed

	ctx    context.Context // see Context
	cancel context.CancelCauseFunc

	lastConn chan struct{} // closed when the library has the connection on which it ends
	closing  atomic.Bool   // close has been called
	ended    atomic.Bool   // a server has told close that it has ended the session
	gone     chan struct{} // closed when nothing of the session is left in this process

	// Protected by client.mu.
	id            int64
	server        string          // address of the newest connection or attempt
	established   time.Time       // the time at which a server first accepted it
	lost          time.Time       // the time at which ctx ended
	uninterrupted context.Context // see Trusted
	interrupt     context.CancelCauseFunc

	// What to call when ctx has ended, and when uninterrupted has. Protected by
	// client.mu.
	afterEnd, afterInterruption afterFuncs

	afterFuncs sync.WaitGroup // those that run; none begins after Close has ended ctx
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

// AwaitEnd waits until the session is over, and returns nil if a server has said
// that it has ended the session, so that its ephemeral nodes are gone. A server that
// hands out another session has not said that. Otherwise, the error matches
// ErrLeftToServers and the cause of Context. After Client.Close, AwaitEnd waits until
// Close has reached a server or has given up. If ctx ends first, the error matches
// ctx.Err().
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

// isOverLocked reports whether the client must not heed the session any more.
// Its goroutines go on for a while beside the next session, and what they have
// to tell is of the past. client.mu is held.
func (s *Session) isOverLocked() bool { return s.client.session != s || s.ctx.Err() != nil }

// isLostLocked reports whether the session was lost. There may be a pause before
// the next one takes its place. client.mu is held.
func (s *Session) isLostLocked() bool { return !s.lost.IsZero() }

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

// address returns the address of the newest connection, or of the newest
// attempt to make one.
func (s *Session) address() string {
	s.client.mu.Lock()
	defer s.client.mu.Unlock()
	return s.server
}

// sessionError adds to the error of a request that was not answered that the
// session or the client has ended, if that is the reason.
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

// afterFuncs are functions to be called when a context of a session has ended. takeBack
// removes one, and the end of the context all. Protected by client.mu.
type afterFuncs map[*afterFunc]struct{}

type afterFunc struct{ call func() }

// run calls the functions. Before that it yields, because the scheduler prefers
// new goroutines: the ones that were waiting for the end of the context come
// first. A function that ends its goroutine takes no call from the others.
func (fs afterFuncs) run() {
	runtime.Gosched()
	hooks.Each(slices.Collect(maps.Keys(fs)), func(f *afterFunc) { f.call() })
}

// AfterTrust calls f when the context that Trusted returns for p has ended, and
// with it every context that is derived from it. It is for work that can wait:
// when a session is lost, thousands of holders may have to stop, and they come
// first.
//
// f must not block. It is called on a goroutine that Client.Close waits for, or
// by AfterTrust itself if the context has ended already. The function returned
// takes the call back, and reports whether it was in time for that.
func (s *Session) AfterTrust(p state.ErrorPolicy, f func()) (stop func() bool) {
	c := s.client
	c.mu.Lock()
	on, over := &s.afterEnd, s.ctx
	if p.IsError(state.Suspended) {
		on, over = &s.afterInterruption, s.uninterrupted
	}
	if over.Err() != nil {
		c.mu.Unlock()
		f()
		return func() bool { return false }
	}
	defer c.mu.Unlock()
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

// runAfterFuncsLocked calls the functions of contexts that have ended.
// client.mu is held, and was held when the contexts were ended: so all of them
// have ended by now, and no function is added behind this call.
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

// InSession pins operations to one session: it runs f with a context for
// operations that must all be of the session that is connected at the start. An
// operation of this client, on any view, that is called with the context or
// with one derived from it, is never carried out in another session, not even
// by a retry. So whatever one operation has seen or made is as the session left
// it when the next one runs. The context ends with the session, and the cause
// is then the session's, such as ErrSessionLost.
//
// An operation under way when the session ends fails like any other: a write
// may match ErrOutcomeUnknown.
//
// InSession waits for a connection like an operation does, and returns what f
// returns. If f fails because the context has ended with the session, the error
// matches the session's cause. It does not call f again. To begin anew in the
// next session, use a retry loop:
//
//	lost := func(err error) bool { return errors.Is(err, framework.ErrSessionLost) }
//	err := retry.Do(ctx, policy, lost, func(ctx context.Context) error { return client.InSession(ctx, f) })
//
// In the next session, f finds the nodes that the lost session has left. The
// server deletes its ephemeral nodes only some time later.
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
