package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/retry"
	"github.com/gocurator/curator/testing/zktest"
)

// Actor is a program with its own client on its own machine.
type Actor struct {
	world  *World
	name   string
	play   func(*Actor)
	host   *zktest.Host
	client *framework.Client
	done   chan struct{} // closed when play has returned

	mu      sync.Mutex
	calls   []*call
	touched bool      // the search has caused a fault that may end a lease
	expired []int64   // the actor's sessions that have expired without a warning
	closing time.Time // when Close of its client was called; zero before
	closed  time.Time // when Close returned; zero before
	meets   []meeting // faults of the natural course
	history hash      // the messages that the actor has received, and when
}

// call is a call by an actor under a context that the search may end.
type call struct {
	name  string
	end   context.CancelCauseFunc
	grace time.Duration // how long the call may continue after its context has ended
	begun time.Time
	cause error     // not nil when the search has ended the context
	ended time.Time // when the search ended the context
}

// Actor adds an actor. Its client is connected before any actor begins to play. All
// actors begin at the same time, in the order in which they were added, each in its own
// goroutine. The run is over when all actors have returned; each should leave nothing
// behind. The search closes the client at the end or, as a move, at any earlier time.
func (w *World) Actor(name string, play func(a *Actor)) {
	w.actors = append(w.actors, &Actor{world: w, name: name, play: play, done: make(chan struct{})})
}

// Name returns the name of the actor.
func (a *Actor) Name() string { return a.name }

// Client returns the client of the actor.
func (a *Actor) Client() *framework.Client { return a.client }

// Call calls the function do with a context that the search may end, and returns the
// function's result. When the context ends, the function must return at once, without a
// message and without time passing, and its error, if any, must match the cause. The function
// must also return at once when the client was closed.
func (a *Actor) Call(name string, do func(ctx context.Context) error) error {
	return a.CallWithin(name, 0, do)
}

// CallWithin is Call for a function that returns within some time after the end of its
// context.
func (a *Actor) CallWithin(name string, grace time.Duration, do func(ctx context.Context) error) error {
	ctx, end := context.WithCancelCause(context.Background())
	defer end(nil)
	c := &call{name: name, grace: grace, begun: time.Now(), end: end}
	a.mu.Lock()
	a.calls = append(a.calls, c)
	a.mu.Unlock()
	err := do(ctx)
	a.mu.Lock()
	cause, late := c.cause, c.cause != nil && time.Since(c.ended) > c.grace
	if !a.closing.IsZero() && errors.Is(err, framework.ErrClosed) {
		cause = nil // the close is also a valid reason
	}
	a.calls = slices.DeleteFunc(a.calls, func(o *call) bool { return o == c })
	a.mu.Unlock()
	a.world.course.note(fmt.Sprintf("%s: %s returns %s", a.name, name, outcome(err)))
	if late {
		a.world.Fail("%s: %s has returned %v after its context had ended", a.name, name, time.Since(c.ended))
	}
	if err != nil && cause != nil && !errors.Is(err, cause) {
		a.world.Fail("%s: %s does not say why it has ended: %v", a.name, name, err)
	}
	return err
}

func outcome(err error) string {
	if err == nil {
		return "nil"
	}
	return canonical(err.Error())
}

// Pause is a point at which the actor takes its time. The actor continues as if a
// message had arrived, so other actors may do much before that.
func (a *Actor) Pause(what string) {
	on := make(chan struct{})
	a.world.queue.add(&item{actor: a, text: a.name + " " + what, lane: lane{actor: a}, arrive: func() { close(on) }})
	<-on
}

// connect opens the client.
func (a *Actor) connect(ctx context.Context, servers string) error {
	client, err := framework.Connect(ctx, servers, append([]framework.Option{
		framework.WithDialer(a.host.Dialer()),
		framework.WithSessionTimeout(a.world.timeout),
		framework.WithRetry(retry.Forever(100 * time.Millisecond)),
	}, a.world.options...)...)
	if err != nil {
		return fmt.Errorf("the client of %s: %w", a.name, err)
	}
	a.client = client
	return nil
}

// begin lets the actor play.
func (a *Actor) begin() {
	go func() {
		defer func() {
			close(a.done)
			a.world.queue.signal()
		}()
		a.play(a)
	}()
}

func (a *Actor) isDone() bool {
	select {
	case <-a.done:
		return true
	default:
		return false
	}
}

// endable returns the calls whose context the search may still end.
func (a *Actor) endable() []*call {
	a.mu.Lock()
	defer a.mu.Unlock()
	var open []*call
	for _, c := range a.calls {
		if c.cause == nil {
			open = append(open, c)
		}
	}
	return open
}

func (a *Actor) endCall(c *call, cause error) {
	a.mu.Lock()
	c.cause, c.ended = cause, time.Now()
	a.mu.Unlock()
	c.end(cause)
}

// overdue names a call that should have returned, and says why. It returns "" if
// there is none.
func (a *Actor) overdue() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.closing.IsZero() && a.closed.IsZero() && time.Since(a.closing) > a.world.timeout {
		return "Close does not return"
	}
	for _, c := range a.calls {
		if c.cause != nil && time.Since(c.ended) >= c.grace {
			return c.name + " does not return, though its context has ended"
		}
		if !a.closed.IsZero() && min(time.Since(a.closed), time.Since(c.begun)) >= c.grace {
			return c.name + " does not return, though the client is closed"
		}
	}
	return ""
}

// awaits returns the names of the calls that have not returned.
func (a *Actor) awaits() (names []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range a.calls {
		names = append(names, c.name)
	}
	return names
}

// disturb notes an event that may end a lease of the actor.
func (a *Actor) disturb() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.touched = true
}

// Disturbed reports whether the search has done something to the actor, or to its
// server, that may end a lease.
func (a *Actor) Disturbed() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.touched
}

// Closed reports whether the client of the actor is closed, or is about to be.
func (a *Actor) Closed() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !a.closing.IsZero()
}

func (a *Actor) noteExpiry() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.expired = append(a.expired, a.session())
}

// HasExpired reports whether the search has made that session of the actor expire
// without a warning.
func (a *Actor) HasExpired(session int64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Contains(a.expired, session)
}

// isUnwarned reports whether the actor is in a session that has expired without a
// warning.
func (a *Actor) isUnwarned() bool { return a.HasExpired(a.session()) }

// Expiries returns how often the search has made a session of the actor expire without
// a warning. The actor learns of that only later.
func (a *Actor) Expiries() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.expired)
}

// MessagePending reports whether a request of the actor, an answer to it, or the event
// of a watch is under way. The search may hold it back for a second.
func (a *Actor) MessagePending() bool {
	return slices.ContainsFunc(a.world.queue.ready(), func(i *item) bool { return i.actor == a && i.message != nil })
}

func (a *Actor) session() int64 { return a.client.SessionID() }
