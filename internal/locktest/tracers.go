package locktest

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/recipes/locktrace"
)

// Valve is a tracer all of whose methods block while it is shut. It counts its
// calls.
type Valve struct {
	shut       atomic.Pointer[chan struct{}]
	Ended      atomic.Int32 // holds
	Overruns   atomic.Int32
	Operations atomic.Int32
	Open       atomic.Int32 // acquires
}

func (v *Valve) pass() {
	if shut := v.shut.Load(); shut != nil {
		<-*shut
	}
}

// Close shuts the valve, and returns a function that opens it again.
func (v *Valve) Close() (open func()) {
	shut := make(chan struct{})
	v.shut.Store(&shut)
	return sync.OnceFunc(func() {
		v.shut.Store(nil)
		close(shut)
	})
}

func (v *Valve) ClientOpened(clienttrace.Client)      {}
func (v *Valve) ClientClosed(clienttrace.Client)      { v.pass() }
func (v *Valve) StateChanged(clienttrace.StateChange) { v.pass() }
func (v *Valve) EndOperation(context.Context, clienttrace.OperationEnd) {
	v.pass()
	v.Operations.Add(1)
}

func (v *Valve) StartOperation(ctx context.Context, _ clienttrace.Operation) context.Context {
	v.pass()
	return ctx
}

func (v *Valve) StartAcquire(ctx context.Context, _ locktrace.Acquire) (context.Context, locktrace.AcquireTracer) {
	v.pass()
	v.Open.Add(1)
	return ctx, ValveOnAcquire{v}
}

// ValveOnAcquire is the tracer that a Valve returns for an acquire.
type ValveOnAcquire struct{ *Valve }

func (v ValveOnAcquire) Trace() map[string]string   { v.pass(); return nil }
func (v ValveOnAcquire) QueuedLocally(int)          { v.pass() }
func (v ValveOnAcquire) Queued(locktrace.Queued)    { v.pass() }
func (v ValveOnAcquire) Waiting(locktrace.Waiting)  { v.pass() }
func (v ValveOnAcquire) Woken(bool)                 { v.pass() }
func (v ValveOnAcquire) Abandoned(error)            { v.pass() }
func (v ValveOnAcquire) Ended(locktrace.AcquireEnd) { v.pass() }

func (v ValveOnAcquire) StartHold(locktrace.Hold) locktrace.HoldTracer {
	v.pass()
	return ValveOnHold(v)
}

// ValveOnHold is the tracer that a Valve returns for a hold.
type ValveOnHold struct{ *Valve }

func (v ValveOnHold) Context(ctx context.Context) context.Context { v.pass(); return ctx }
func (v ValveOnHold) Reentered()                                  { v.pass() }
func (v ValveOnHold) Revoked()                                    { v.pass() }
func (v ValveOnHold) Ended(locktrace.HoldEnd)                     { v.pass(); v.Valve.Ended.Add(1) }
func (v ValveOnHold) Overrun() func()                             { v.pass(); v.Overruns.Add(1); return v.pass }

// Neighbours is a Valve that records the contenders that it was told of.
type Neighbours struct {
	Valve
	mu   sync.Mutex // protects the following field
	seen []locktrace.Waiting
}

// Seen returns the contenders that it was told of.
func (n *Neighbours) Seen() []locktrace.Waiting {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.seen
}

func (n *Neighbours) StartAcquire(ctx context.Context, _ locktrace.Acquire) (context.Context, locktrace.AcquireTracer) {
	return ctx, neighboursOnAcquire{ValveOnAcquire{&n.Valve}, n}
}

type neighboursOnAcquire struct {
	ValveOnAcquire
	of *Neighbours
}

func (n neighboursOnAcquire) Waiting(w locktrace.Waiting) {
	n.of.mu.Lock()
	defer n.of.mu.Unlock()
	n.of.seen = append(n.of.seen, w)
}

// Spy is a tracer that counts requests to give a lock up, and can step in when
// there is a grant.
type Spy struct {
	Revoked atomic.Int32
	Granted func()                  // may be nil; called before the hold begins
	Ended   func(locktrace.HoldEnd) // may be nil
}

func (s *Spy) StartAcquire(ctx context.Context, _ locktrace.Acquire) (context.Context, locktrace.AcquireTracer) {
	return ctx, SpyOnAcquire{s}
}

// SpyOnAcquire is the tracer that a Spy returns for an acquire.
type SpyOnAcquire struct{ *Spy }

func (SpyOnAcquire) Trace() map[string]string   { return nil }
func (SpyOnAcquire) QueuedLocally(int)          {}
func (SpyOnAcquire) Queued(locktrace.Queued)    {}
func (SpyOnAcquire) Waiting(locktrace.Waiting)  {}
func (SpyOnAcquire) Woken(bool)                 {}
func (SpyOnAcquire) Abandoned(error)            {}
func (SpyOnAcquire) Ended(locktrace.AcquireEnd) {}

func (s SpyOnAcquire) StartHold(locktrace.Hold) locktrace.HoldTracer {
	if s.Granted != nil {
		s.Granted()
	}
	return spyOnHold(s)
}

type spyOnHold struct{ *Spy }

func (spyOnHold) Context(ctx context.Context) context.Context { return ctx }
func (spyOnHold) Reentered()                                  {}
func (s spyOnHold) Revoked()                                  { s.Spy.Revoked.Add(1) }
func (spyOnHold) Overrun() func()                             { return func() {} }

func (s spyOnHold) Ended(end locktrace.HoldEnd) {
	if s.Spy.Ended != nil {
		s.Spy.Ended(end)
	}
}
