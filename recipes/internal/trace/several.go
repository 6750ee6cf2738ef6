package trace

import (
	"cmp"
	"context"
	"maps"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/hooks"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/locktrace"
)

var hookStartAcquire = framework.NewHookKind[locktrace.HookStartAcquire]()

// startAcquire tells the hooks, and returns what is told of the acquire from then
// on.
func startAcquire(
	ctx context.Context, those []locktrace.HookStartAcquire, a locktrace.Acquire,
) (context.Context, locktrace.AcquireTracer) {
	if len(those) == 1 {
		return startOne(ctx, those[0], a)
	}
	all := make(acquireTracers, 0, len(those))
	defer func() {
		if len(all) < len(those) { // a hook has panicked, and those before it must not wait for the end
			all.Ended(locktrace.AcquireEnd{Outcome: locktrace.Failed, Err: reason.ErrPanicked})
		}
	}()
	for _, h := range those {
		var t locktrace.AcquireTracer
		ctx, t = startOne(ctx, h, a)
		all = append(all, t)
	}
	return ctx, all
}

// startOne tells one hook, which may return nil for both.
func startOne(
	ctx context.Context, h locktrace.HookStartAcquire, a locktrace.Acquire,
) (context.Context, locktrace.AcquireTracer) {
	started, t := h.StartAcquire(ctx, a)
	if t == nil {
		t = acquireTracers(nil) // what it is told reaches nobody
	}
	return cmp.Or(started, ctx), t
}

// acquireTracers are those of several hooks, for one acquire.
type acquireTracers []locktrace.AcquireTracer

func (all acquireTracers) Trace() map[string]string {
	var link map[string]string
	for _, t := range all {
		its := t.Trace()
		if link == nil {
			link = maps.Clone(its)
			continue
		}
		maps.Copy(link, its)
	}
	return link
}

func (all acquireTracers) QueuedLocally(ahead int) {
	for _, t := range all {
		t.QueuedLocally(ahead)
	}
}

func (all acquireTracers) Queued(q locktrace.Queued) {
	for _, t := range all {
		t.Queued(q)
	}
}

func (all acquireTracers) Waiting(w locktrace.Waiting) {
	for _, t := range all {
		t.Waiting(w)
	}
}

func (all acquireTracers) Woken(gone bool) {
	for _, t := range all {
		t.Woken(gone)
	}
}

func (all acquireTracers) Abandoned(reason error) {
	for _, t := range all {
		t.Abandoned(reason)
	}
}

func (all acquireTracers) Ended(end locktrace.AcquireEnd) {
	hooks.Each(all, func(t locktrace.AcquireTracer) { t.Ended(end) })
}

func (all acquireTracers) StartHold(h locktrace.Hold) locktrace.HoldTracer {
	holds := make(holdTracers, 0, len(all))
	defer func() {
		if len(holds) < len(all) { // a hook has panicked
			holds.Ended(neverHeld)
		}
	}()
	for _, t := range all {
		holds = append(holds, startHold(t, h))
	}
	return holds
}

// startHold tells one tracer, which may return nil.
func startHold(t locktrace.AcquireTracer, h locktrace.Hold) locktrace.HoldTracer {
	if hold := t.StartHold(h); hold != nil {
		return hold
	}
	return holdTracers(nil) // what it is told reaches nobody
}

// neverHeld is the end of a hold at whose beginning a hook has panicked.
var neverHeld = locktrace.HoldEnd{Cause: locktrace.EndOther, Err: reason.ErrPanicked}

// holdTracers are those of several hooks, for one hold.
type holdTracers []locktrace.HoldTracer

func (all holdTracers) Context(ctx context.Context) context.Context {
	for _, t := range all {
		ctx = cmp.Or(t.Context(ctx), ctx)
	}
	return ctx
}

func (all holdTracers) Reentered() {
	for _, t := range all {
		t.Reentered()
	}
}

func (all holdTracers) Revoked() {
	for _, t := range all {
		t.Revoked()
	}
}

func (all holdTracers) Ended(end locktrace.HoldEnd) {
	hooks.Each(all, func(t locktrace.HoldTracer) { t.Ended(end) })
}

func (all holdTracers) Overrun() (returned func()) {
	each := make([]func(), len(all))
	for i, t := range all {
		each[i] = overrun(t)
	}
	return func() {
		for _, over := range each {
			over()
		}
	}
}

// overrun tells one tracer, which may return nil.
func overrun(t locktrace.HoldTracer) (returned func()) {
	if returned := t.Overrun(); returned != nil {
		return returned
	}
	return func() {}
}
