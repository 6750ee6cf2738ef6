// Package teller calls code of the user's, such as a tracer or a log handler,
// for callers that it must not hold up. Package clienttrace has the contract.
package teller

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Teller makes calls, one after the other, in the order of the posts. It
// implements insider.Teller. The calls run on a goroutine of their own,
// which lives as long as there is something to call.
type Teller struct {
	of *Group

	mu      sync.Mutex // protects the following fields
	calls   []func()   // what to call after the call under way
	telling bool
	told    chan struct{} // closed when nothing is left to call
	late    bool          // a caller has stopped waiting for the call under way
}

const (
	// Timeout is how long a caller waits for code of the user's.
	Timeout = time.Second

	// grace is how long a caller waits after its context has ended. It is
	// enough for code that does not block.
	grace = 100 * time.Millisecond

	// maxTelling is how many Tellers of a Group may have calls under way while
	// one of them is overdue. Calls of others are left out then: code that
	// never returns must not cost a goroutine for each call, for ever.
	maxTelling = 1 << 14
)

// Context implements insider.Teller.
func (t *Teller) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, key{}, t)
}

type key struct{}

// FromContext returns the Teller that Context was called on, or nil.
func FromContext(ctx context.Context) *Teller {
	t, _ := ctx.Value(key{}).(*Teller)
	return t
}

// EndKey is the key of a second context, in the context of a caller. After its end
// the caller waits no longer than after the end of the first, which goes on.
type EndKey struct{}

// Post implements insider.Teller.
func (t *Teller) Post(call func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.telling {
		t.calls = append(t.calls, call)
		return true
	}
	if !t.of.begin() {
		return false
	}
	t.telling, t.told = true, make(chan struct{})
	go t.tell(call)
	return true
}

// Tell is Post and Wait. If the call panics while Tell waits, so does Tell, with the
// same value: the caller may know what to do about it.
func (t *Teller) Tell(ctx context.Context, call func()) (told bool) {
	var outcome atomic.Int32 // 0 until one of them has happened, which is never if the call ends its goroutine
	const left, panicked, returned = 1, 2, 3
	var value any
	posted := t.Post(func() {
		defer func() {
			if value = recover(); value != nil && !outcome.CompareAndSwap(0, panicked) {
				panic(value) // Tell has returned, and cannot panic for it
			}
		}()
		call()
		outcome.CompareAndSwap(0, returned)
	})
	told = posted && t.Wait(ctx)
	if !told && outcome.CompareAndSwap(0, left) {
		return false
	}
	if outcome.Load() == panicked {
		panic(value)
	}
	return told && outcome.Load() == returned
}

// Wait implements insider.Teller.
func (t *Teller) Wait(ctx context.Context) (told bool) {
	all := t.ending()
	switch {
	case all == nil:
		return true
	case t.of.isLate():
		return false
	default:
		return t.await(ctx, all, time.Now().Add(Timeout))
	}
}

// ending returns a channel that is closed when nothing is left to call, or nil
// if there is nothing now.
func (t *Teller) ending() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.telling {
		return nil
	}
	return t.told
}

func (t *Teller) await(ctx context.Context, all <-chan struct{}, deadline time.Time) (told bool) {
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	var other <-chan struct{}
	if end, ok := ctx.Value(EndKey{}).(context.Context); ok {
		other = end.Done()
	}
	ended := ctx.Done()
	for {
		select {
		case <-all:
			return true
		case <-timer.C:
			return t.overdue()
		case <-ended:
		case <-other:
		}
		ended, other = nil, nil
		timer.Reset(min(grace, time.Until(deadline)))
	}
}

// overdue notes that a caller has waited in vain, and reports whether
// everything has been told after all.
func (t *Teller) overdue() (told bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.telling && !t.late {
		t.late = true
		t.of.addLate(1)
	}
	return !t.telling
}

func (t *Teller) tell(call func()) {
	defer func() {
		if call != nil { // it has ended the goroutine, as a test's FailNow does
			if next := t.next(); next != nil {
				go t.tell(next)
			}
		}
	}()
	for call != nil {
		call()
		call = t.next()
	}
}

// next returns what is to be called now, or nil if that is nothing.
func (t *Teller) next() func() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.late {
		t.late = false
		t.of.addLate(-1)
	}
	if len(t.calls) > 0 {
		call := t.calls[0]
		t.calls[0] = nil
		t.calls = t.calls[1:]
		return call
	}
	t.calls, t.telling = nil, false
	close(t.told)
	t.of.end()
	return nil
}

// Group is what the Tellers of a client have in common.
type Group struct {
	mu      sync.Mutex // protects the following fields
	telling int
	late    int           // Tellers with a call that is overdue
	quiet   chan struct{} // closed when none is telling; nil if no caller waits for that
}

// New returns a Teller that has nothing to call.
func (g *Group) New() *Teller { return &Teller{of: g} }

// begin counts a Teller that has something to call, unless there are too many.
func (g *Group) begin() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.late > 0 && g.telling >= maxTelling {
		return false
	}
	g.telling++
	return true
}

func (g *Group) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.telling--
	if g.telling == 0 && g.quiet != nil {
		close(g.quiet)
		g.quiet = nil
	}
}

func (g *Group) addLate(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.late += n
}

func (g *Group) isLate() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.late > 0
}

// ending returns a channel that is closed when no Teller has anything left to
// call, or nil if none has now.
func (g *Group) ending() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.telling > 0 && g.quiet == nil {
		g.quiet = make(chan struct{})
	}
	return g.quiet
}

// Finish waits until no Teller has anything left to call, and then until last
// has been called, which may be nil. It waits until a deadline, and in any case
// long enough for code that does not block.
func (g *Group) Finish(deadline time.Time, last func()) {
	if quiet := g.ending(); quiet != nil {
		awaitUntil(quiet, deadline)
	}
	if last == nil {
		return
	}
	t := g.New()
	t.Post(last)
	if told := t.ending(); told != nil {
		awaitUntil(told, deadline)
	}
}

func awaitUntil(done <-chan struct{}, deadline time.Time) {
	timer := time.NewTimer(max(time.Until(deadline), grace))
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}
