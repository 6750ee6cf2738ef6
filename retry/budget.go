package retry

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// budget is the schedule that a loop and the loops nested in it draw from.
// Nested loops may run concurrently.
//
// Nested loops draw from a schedule of their own, which begins where the one of
// the outermost loop stands. They drop it when one of them succeeds and no
// other is in trouble. If the op of the outermost loop fails before that, the
// outermost loop skips as many pauses as they have drawn.
type budget struct {
	policy Policy

	mu     sync.Mutex
	closed bool // the outermost loop has ended

	outer *schedule // nil before the outermost loop has failed
	drawn int       // pauses drawn from outer
	since time.Time // when the trouble of the outermost loop has begun; zero if it is over

	nested  *schedule // nil: no nested loop has failed since the last success
	open    int       // pauses drawn from nested
	failing int       // nested loops under way that have drawn from it
}

// share is a loop's part of a budget.
type share struct {
	*budget
	outermost bool
	begun     time.Time
	drew      bool // a nested loop counts among the failing ones
}

type budgetKey struct{}

// outermost is what the outermost loop needs: its context, and in it the budget
// and its share of that. They are one, because each operation of a client is
// such a loop, and hardly one of them fails.
type outermost struct {
	context.Context
	budget budget
	share  share
}

// Value returns the budget, by which nested loops find it.
func (o *outermost) Value(key any) any {
	if key == (budgetKey{}) {
		return &o.budget
	}
	return o.Context.Value(key)
}

// String returns the name of the context, as those of the standard library do.
// Without it, who prints the context would read what other loops change.
func (o *outermost) String() string {
	if parent, ok := o.Context.(fmt.Stringer); ok {
		return parent.String() + ".WithRetry"
	}
	return fmt.Sprintf("%T.WithRetry", o.Context)
}

// GoString returns the same, for the verb %#v.
func (o *outermost) GoString() string { return o.String() }

// begin returns the share of a loop that begins. A schedule is made at the first
// failure, so that an attempt that succeeds costs nothing for it.
//
// A context may outlive the loop that it comes from, and so may a context that
// was derived from it. The budget of a loop that has ended is not used.
func begin(ctx context.Context, p Policy) (context.Context, *share) {
	b, _ := ctx.Value(budgetKey{}).(*budget)
	if b != nil && !b.isClosed() {
		return ctx, &share{budget: b, begun: time.Now()}
	}
	o := &outermost{Context: ctx, budget: budget{policy: p}}
	o.share = share{budget: &o.budget, outermost: true, begun: time.Now()}
	return o, &o.share
}

func (b *budget) isClosed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.closed
}

// next returns the pause after a failure.
func (s *share) next() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.outermost {
		return s.nextOuterLocked()
	}
	if s.nested == nil {
		s.nested = newSchedule(s.policy, s.troubledLocked())
		s.nested.skip(s.drawn)
	}
	if !s.drew {
		s.drew = true
		s.failing++
	}
	s.open++
	return s.nested.next()
}

// troubledLocked returns from when on the time of a nested loop counts. A trouble
// that the outermost loop has met, too, began with that.
func (s *share) troubledLocked() time.Time {
	if s.since.IsZero() {
		return s.begun
	}
	return s.since
}

func (s *share) nextOuterLocked() time.Duration {
	if s.outer == nil {
		s.outer = newSchedule(s.policy, s.begun)
	}
	if s.nested != nil && s.nested.exhausted {
		s.outer.exhausted = true
	}
	s.since = s.begun
	s.outer.skip(s.open)
	s.drawn += s.open + 1
	s.nested, s.open = nil, 0
	return s.outer.next()
}

// succeeded notes that a loop has succeeded. A nested loop that is in trouble
// keeps what it has used up, or one that never succeeds would go on for ever
// beside one that always does.
func (s *share) succeeded() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.standsLocked()
	if !s.outermost && s.failing == 0 {
		s.nested, s.open, s.since = nil, 0, time.Time{}
	}
}

func (s *share) standsLocked() {
	if s.drew {
		s.drew = false
		s.failing--
	}
}

// end notes that a loop has ended, in whichever way.
func (s *share) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.standsLocked()
	s.closed = s.closed || s.outermost
}

// schedule is a run of a policy. It stays at its end: some would start again.
type schedule struct {
	backoff   backoff.BackOff
	exhausted bool
}

// newSchedule makes the schedule of a loop that has begun at that time.
func newSchedule(p Policy, begun time.Time) *schedule {
	b := p()
	if timed, ok := b.(*untilElapsed); ok {
		timed.begun = begun
	}
	return &schedule{backoff: b}
}

func (s *schedule) next() time.Duration {
	if s.exhausted {
		return backoff.Stop
	}
	pause := s.backoff.NextBackOff()
	s.exhausted = pause == backoff.Stop
	return pause
}

func (s *schedule) skip(n int) {
	for range n {
		if s.next() == backoff.Stop {
			return
		}
	}
}
