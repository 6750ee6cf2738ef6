package locktest

import (
	"context"
	"sync/atomic"

	"github.com/gocurator/curator/recipes/locktrace"
)

// Calls is a tracer of an acquire that passes on the argument of each call, or nil if
// there is none.
type Calls func(told any)

func (f Calls) Trace() map[string]string       { f(nil); return nil }
func (f Calls) QueuedLocally(ahead int)        { f(ahead) }
func (f Calls) Queued(q locktrace.Queued)      { f(q) }
func (f Calls) Waiting(w locktrace.Waiting)    { f(w) }
func (f Calls) Woken(gone bool)                { f(gone) }
func (f Calls) Abandoned(reason error)         { f(reason) }
func (f Calls) Ended(end locktrace.AcquireEnd) { f(end) }

func (f Calls) StartHold(h locktrace.Hold) locktrace.HoldTracer {
	f(h)
	return CallsOfHold(f)
}

// CallsOfHold is Calls for the hold.
type CallsOfHold func(told any)

// Revoked is the argument of CallsOfHold after a request to give up the lock.
type Revoked struct{}

func (f CallsOfHold) Context(ctx context.Context) context.Context { f(ctx); return ctx }
func (f CallsOfHold) Reentered()                                  { f(nil) }
func (f CallsOfHold) Revoked()                                    { f(Revoked{}) }
func (f CallsOfHold) Ended(end locktrace.HoldEnd)                 { f(end) }
func (f CallsOfHold) Overrun() func()                             { f(nil); return func() { f(nil) } }

// Spy is a hook that counts requests to give up a lock, and the ends of holds.
type Spy struct{ Revoked, Ended atomic.Int32 }

func (s *Spy) StartAcquire(ctx context.Context, _ locktrace.Acquire) (context.Context, locktrace.AcquireTracer) {
	return ctx, Calls(s.Told)
}

// Told counts a call.
func (s *Spy) Told(told any) {
	switch told.(type) {
	case Revoked:
		s.Revoked.Add(1)
	case locktrace.HoldEnd:
		s.Ended.Add(1)
	}
}
