package trace

import (
	"context"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/lockloop"
	"github.com/gocurator/curator/recipes/locktrace"
)

// Acquire reports one acquire to the tracer. The nil *Acquire reports nothing.
type Acquire struct {
	// teller makes the calls for an acquire on a goroutine of the client. It is
	// nil for an acquire on the user's goroutine.
	teller clienttrace.Teller
	ctx    context.Context // of the acquire, if there is a teller

	to         locktrace.AcquireTracer // only tell reads it: a teller may set it late
	over       bool                    // Ended was called
	handedOver bool
	downgraded bool
}

// StartAcquire tells the client's tracer, if it has one that traces acquires.
// It returns the context for the rest of the acquire.
func StartAcquire(ctx context.Context, a locktrace.Acquire) (context.Context, *Acquire) {
	tracer, ok := framework.Extend(a.Client).Tracer().(locktrace.Tracer)
	if !ok {
		return ctx, nil
	}
	t := &Acquire{}
	if a.Recipe == locktrace.RecipeLeaderLatch { // it runs on a goroutine of the client
		t.teller, t.ctx = framework.Extend(a.Client).NewTeller(), ctx
	}
	return t.start(ctx, a, tracer), t
}

func (t *Acquire) start(ctx context.Context, a locktrace.Acquire, tracer locktrace.Tracer) context.Context {
	started := ctx
	start := func() { started, t.to = tracer.StartAcquire(ctx, a) }
	if t.teller == nil {
		start()
		return started
	}
	if !t.teller.Tell(ctx, start) {
		return ctx
	}
	return started
}

// tell calls the tracer, and reports whether it has returned.
func (t *Acquire) tell(call func(locktrace.AcquireTracer)) bool {
	if t.teller == nil {
		call(t.to)
		return true
	}
	return t.teller.Tell(t.ctx, func() {
		if t.to != nil { // otherwise the tracer never heard of the beginning
			call(t.to)
		}
	})
}

// Ended tells how the acquire ended.
func (t *Acquire) Ended(end locktrace.AcquireEnd) {
	if t == nil {
		return
	}
	t.over = true
	end.HandedOver, end.Downgraded = t.handedOver, t.downgraded
	t.tell(func(to locktrace.AcquireTracer) { to.Ended(end) })
}

// EndedByPanic is for a defer. If Ended was not called, the user's code has
// panicked, such as a Locker in a multi-lock.
func (t *Acquire) EndedByPanic() {
	if t != nil && !t.over {
		t.Ended(locktrace.AcquireEnd{Outcome: locktrace.Failed, Err: reason.ErrPanicked})
	}
}

// Link returns the entries that identify the acquire's trace in its nodes.
func (t *Acquire) Link() map[string]string {
	if t == nil {
		return nil
	}
	var link map[string]string
	if !t.tell(func(to locktrace.AcquireTracer) { link = to.Trace() }) {
		return nil
	}
	return link
}

// QueuedLocally reports that the acquire waits in the process.
func (t *Acquire) QueuedLocally(ahead int) {
	if t != nil {
		t.tell(func(to locktrace.AcquireTracer) { to.QueuedLocally(ahead) })
	}
}

// HandedOver notes, for the end, that another goroutine passed the lock on.
func (t *Acquire) HandedOver() {
	if t != nil {
		t.handedOver = true
	}
}

// Downgraded notes, for the end, that a reader took its writer's place.
func (t *Acquire) Downgraded() {
	if t != nil {
		t.downgraded = true
	}
}

// Distrusted reports a node that was admitted and is given up because of an
// interruption between the grant and now.
func (t *Acquire) Distrusted(c *framework.Client, node framework.Created) {
	if t == nil {
		return
	}
	reason := context.Cause(node.Session.Trusted(framework.Extend(c).ErrorPolicy()))
	if reason == nil { // the connection is back already
		reason = framework.ErrSuspended
	}
	t.Abandoned(reason)
}

// Observer returns the observer that the lock loop reports the acquire's nodes
// to. Without a tracer it returns the nil interface. A nil *Acquire would not
// be that.
func (t *Acquire) Observer() lockloop.Observer {
	if t == nil {
		return nil
	}
	return t
}

// Queued implements lockloop.Observer.
func (t *Acquire) Queued(node framework.Created, ahead, length int) {
	t.tell(func(to locktrace.AcquireTracer) {
		to.Queued(locktrace.Queued{Node: node.Path, Czxid: node.Czxid, Ahead: ahead, Length: length})
	})
}

// Waiting implements lockloop.Observer.
func (t *Acquire) Waiting(ahead, holder lockloop.Other) {
	t.tell(func(to locktrace.AcquireTracer) {
		to.Waiting(locktrace.Waiting{Ahead: contender(ahead), Holder: contender(holder)})
	})
}

// Woken implements lockloop.Observer.
func (t *Acquire) Woken(gone bool) {
	t.tell(func(to locktrace.AcquireTracer) { to.Woken(gone) })
}

// Abandoned implements lockloop.Observer.
func (t *Acquire) Abandoned(reason error) {
	t.tell(func(to locktrace.AcquireTracer) { to.Abandoned(reason) })
}

func contender(o lockloop.Other) locktrace.Contender {
	return locktrace.Contender{Node: printable.String(o.Node), Data: o.Data, Since: o.Since}
}
