package trace

import (
	"context"
	"maps"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locktrace"
)

var hookStartAcquire = framework.NewHookKind[locktrace.HookStartAcquire]()

// startAcquire tells the hooks, and returns what is told of the acquire from then
// on.
func startAcquire(
	ctx context.Context, hooks []locktrace.HookStartAcquire, a locktrace.Acquire,
) (context.Context, locktrace.AcquireTracer) {
	if len(hooks) == 1 {
		return hooks[0].StartAcquire(ctx, a)
	}
	all := make(acquireTracers, len(hooks))
	for i, h := range hooks {
		ctx, all[i] = h.StartAcquire(ctx, a)
	}
	return ctx, all
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
	for _, t := range all {
		t.Ended(end)
	}
}

func (all acquireTracers) StartHold(h locktrace.Hold) locktrace.HoldTracer {
	holds := make(holdTracers, len(all))
	for i, t := range all {
		holds[i] = t.StartHold(h)
	}
	return holds
}

// holdTracers are those of several hooks, for one hold.
type holdTracers []locktrace.HoldTracer

func (all holdTracers) Context(ctx context.Context) context.Context {
	for _, t := range all {
		ctx = t.Context(ctx)
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
	for _, t := range all {
		t.Ended(end)
	}
}

func (all holdTracers) Overrun() (returned func()) {
	each := make([]func(), len(all))
	for i, t := range all {
		each[i] = t.Overrun()
	}
	return func() {
		for _, over := range each {
			over()
		}
	}
}
