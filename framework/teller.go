package framework

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Teller calls code of the user's, such as a Tracer, for callers that it must
// not hold up: one call after the other, in the order of the posts. The calls
// run on a goroutine of their own, which lives as long as there is something to
// call. Packages that are built on the client tell their tracers with it.
//
// Client.Close waits for all Tellers of the client, but no longer than a second
// from its beginning, or a tenth of a second if the rest of Close has taken
// longer than that.
type Teller struct {
	of *tellers

	mu      sync.Mutex // protects the following fields
	calls   []func()   // that follow the one under way
	telling bool
	told    chan struct{} // closed when nothing is left to call
	late    bool          // a caller has stopped waiting for the call under way
}

const (
	// tellerTimeout is how long the client waits for code of the user's.
	tellerTimeout = time.Second

	// tellerGrace is how long a caller waits after its context has ended. It is
	// enough for code that does not block.
	tellerGrace = 100 * time.Millisecond

	// maxTelling is how many Tellers of a client may have calls under way while
	// one of them is overdue. Calls of others are left out then: code that
	// never returns must not cost a goroutine for each call, for ever.
	maxTelling = 1 << 14
)

// NewTeller returns a Teller that has nothing to call.
func (c *Client) NewTeller() *Teller { return &Teller{of: &c.tellers} }

// Context returns a context for operations that must not be held up by the
// client's Tracer: t tells it of them. An operation waits for the Tracer when
// it begins, as Wait does, and not when it ends. Call Wait to be sure that the
// Tracer was told of the end.
func (t *Teller) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, tellerKey{}, t)
}

type tellerKey struct{}

// Post queues a call, and does not wait for it. It reports false, and does
// nothing, if thousands of calls are under way already and one of them is
// overdue.
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

// Tell is Post and Wait. If the call panics while Tell waits, so does Tell,
// with the same value: the caller may know what to do about it.
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

// Wait returns when everything that was posted has been called and has
// returned, and then reports true. It waits no longer than a second, and no
// longer than a tenth of a second when ctx has ended. While a call of any
// Teller of the client is overdue, because somebody has waited for it in vain,
// Wait does not wait at all.
func (t *Teller) Wait(ctx context.Context) (told bool) {
	all := t.ending()
	switch {
	case all == nil:
		return true
	case t.of.isLate():
		return false
	default:
		return t.await(ctx, all, time.Now().Add(tellerTimeout))
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
	ended := ctx.Done()
	for {
		select {
		case <-all:
			return true
		case <-ended:
			ended = nil
			timer.Reset(min(tellerGrace, time.Until(deadline)))
		case <-timer.C:
			return t.overdue()
		}
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

// tellers is what the Tellers of a client have in common.
type tellers struct {
	mu      sync.Mutex // protects the following fields
	telling int
	late    int           // Tellers with a call that is overdue
	quiet   chan struct{} // closed when none is telling; nil if no caller waits for that
}

// begin counts a Teller that has something to call, unless there are too many.
func (ts *tellers) begin() bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.late > 0 && ts.telling >= maxTelling {
		return false
	}
	ts.telling++
	return true
}

func (ts *tellers) end() {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.telling--
	if ts.telling == 0 && ts.quiet != nil {
		close(ts.quiet)
		ts.quiet = nil
	}
}

func (ts *tellers) addLate(n int) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.late += n
}

func (ts *tellers) isLate() bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return ts.late > 0
}

// ending returns a channel that is closed when no Teller has anything left to
// call, or nil if none has now.
func (ts *tellers) ending() <-chan struct{} {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.telling > 0 && ts.quiet == nil {
		ts.quiet = make(chan struct{})
	}
	return ts.quiet
}

// finishTelling waits for the log and the tracer when everything else is done,
// until a deadline.
func (c *Client) finishTelling(deadline time.Time) {
	if quiet := c.tellers.ending(); quiet != nil {
		awaitUntil(quiet, deadline)
	}
	if c.cfg.tracer == nil {
		return
	}
	last := c.NewTeller()
	last.Post(func() { c.cfg.tracer.ClientClosed(c.root) })
	if told := last.ending(); told != nil {
		awaitUntil(told, deadline)
	}
}

// awaitUntil waits until a deadline, and in any case long enough for code that
// does not block.
func awaitUntil(done <-chan struct{}, deadline time.Time) {
	timer := time.NewTimer(max(time.Until(deadline), tellerGrace))
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}
