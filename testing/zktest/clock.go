package zktest

import (
	"context"
	"slices"
	"sync"
	"time"
)

// timeSource is where a server takes its time from: package time, or a [Clock].
type timeSource interface {
	Now() time.Time
	// afterFunc calls do after d, and returns how to prevent that. The returned
	// function reports false if it is too late.
	afterFunc(d time.Duration, do func()) (stop func() bool)
}

// packageTime is the time the test lives in, real or of a synctest bubble.
type packageTime struct{}

func (packageTime) Now() time.Time { return time.Now() }

func (packageTime) afterFunc(d time.Duration, do func()) func() bool {
	return time.AfterFunc(d, do).Stop
}

// Clock is a clock that only a test moves, see [WithClock]. All methods may be
// called from any goroutine.
type Clock struct {
	mu     sync.Mutex
	now    time.Time
	timers []*clockTimer // by time; those of the same time in the order of their making
	added  chan struct{} // closed at the next timer; nil if nobody waits
}

type clockTimer struct {
	at time.Time
	do func()
}

// NewClock returns a clock that stands still at start.
func NewClock(start time.Time) *Clock { return &Clock{now: start} }

// WaitTimers waits until at least n things wait for the clock: a session for
// its end, a delay for being over, containers for the reaper. A test that is
// about to move the clock past a delay has to know that it has begun. The error
// is that of ctx.
func (c *Clock) WaitTimers(ctx context.Context, n int) error {
	for {
		c.mu.Lock()
		enough := len(c.timers) >= n
		if c.added == nil {
			c.added = make(chan struct{})
		}
		added := c.added
		c.mu.Unlock()
		if enough {
			return nil
		}
		select {
		case <-added:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Now returns what the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock forward. When Advance returns, everything that was to
// happen meanwhile has been set off, each at its own time: sessions have
// expired, and delayed requests are on their way. Advance must not be called
// from a function given to [Call] or [CallAfter], nor by two goroutines at
// once.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	end := c.now.Add(d)
	for len(c.timers) > 0 && !c.timers[0].at.After(end) {
		next := c.timers[0]
		c.timers = slices.Delete(c.timers, 0, 1)
		c.now = next.at
		c.mu.Unlock()
		next.do()
		c.mu.Lock()
	}
	c.now = end
	c.mu.Unlock()
}

func (c *Clock) afterFunc(d time.Duration, do func()) func() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &clockTimer{at: c.now.Add(max(d, 0)), do: do}
	i, _ := slices.BinarySearchFunc(c.timers, t, func(other, t *clockTimer) int {
		if other.at.After(t.at) {
			return 1
		}
		return -1 // behind those of the same time
	})
	c.timers = slices.Insert(c.timers, i, t)
	if c.added != nil {
		close(c.added)
		c.added = nil
	}
	return func() bool { return c.remove(t) }
}

func (c *Clock) remove(t *clockTimer) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.timers, t)
	if i < 0 {
		return false
	}
	c.timers = slices.Delete(c.timers, i, i+1)
	return true
}

// sleep waits for d unless done is closed first.
func sleep(clock timeSource, d time.Duration, done <-chan struct{}) bool {
	if d <= 0 {
		return true
	}
	over := make(chan struct{})
	stop := clock.afterFunc(d, func() { close(over) })
	defer stop()
	select {
	case <-over:
		return true
	case <-done:
		return false
	}
}
