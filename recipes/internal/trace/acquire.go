package trace

import (
	"cmp"
	"context"
	"maps"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/recipes/locktrace"
)

var hookStartAcquire = framework.NewHookKind[locktrace.HookStartAcquire]()

// Acquire reports one acquire to the client's hooks. The nil *Acquire reports nothing.
type Acquire struct {
	hold Hold // embedded, so that acquire and hold are one allocation

	to []locktrace.AcquireTracer // the tracers that the hooks have returned
}

// StartAcquire reports the start of an acquire, and returns the context for the rest of
// the acquire. The *Acquire is nil if no hook traces this acquire. A hook may return nil
// for the context, and for its AcquireTracer.
func StartAcquire(ctx context.Context, a locktrace.Acquire) (context.Context, *Acquire) {
	those := hookStartAcquire.Of(a.Client)
	if len(those) == 0 {
		return ctx, nil
	}
	t := &Acquire{}
	for _, h := range those {
		started, to := h.StartAcquire(ctx, a)
		if ctx = cmp.Or(started, ctx); to != nil {
			t.to = append(t.to, to)
		}
	}
	if len(t.to) == 0 {
		return ctx, nil
	}
	return ctx, t
}

// tell calls each tracer.
func (t *Acquire) tell(call func(locktrace.AcquireTracer)) {
	if t != nil {
		for _, to := range t.to {
			call(to)
		}
	}
}

// Ended reports how the acquire ended.
func (t *Acquire) Ended(end locktrace.AcquireEnd) {
	t.tell(func(to locktrace.AcquireTracer) { to.Ended(end) })
}

// Link returns the entries that identify the acquire's trace in its nodes.
func (t *Acquire) Link() map[string]string {
	if t == nil {
		return nil
	}
	link := map[string]string{}
	for _, to := range t.to {
		maps.Copy(link, to.Trace())
	}
	return link
}

// QueuedLocally reports that the acquire waits in the process, behind this number of the
// client's other acquires.
func (t *Acquire) QueuedLocally(ahead int) {
	t.tell(func(to locktrace.AcquireTracer) { to.QueuedLocally(ahead) })
}

// Distrusted reports that an admitted node is given up because of an interruption since
// the grant.
func (t *Acquire) Distrusted(c *framework.Client, node framework.Created) {
	why := context.Cause(node.Session.Trusted(framework.Extend(c).ErrorPolicy()))
	t.Abandoned(cmp.Or(why, framework.ErrSuspended)) // the cause is nil if the connection is back already
}

// Queued reports that the acquire's node is in the queue, with ahead contenders before
// it. The length of the queue includes the node.
func (t *Acquire) Queued(node framework.Created, ahead, length int) {
	t.tell(func(to locktrace.AcquireTracer) {
		to.Queued(locktrace.Queued{Node: node.Path, Czxid: node.Czxid, Ahead: ahead, Length: length})
	})
}

// Waiting reports that the acquire waits for a change of the contender right ahead. For a
// semaphore's leases, w.Ahead is the zero value.
func (t *Acquire) Waiting(w locktrace.Waiting) {
	if t == nil {
		return
	}
	w.Ahead.Node, w.Holder.Node = printable.String(w.Ahead.Node), printable.String(w.Holder.Node)
	t.tell(func(to locktrace.AcquireTracer) { to.Waiting(w) })
}

// Woken reports a change. The argument gone is true if the contender right ahead has
// left.
func (t *Acquire) Woken(gone bool) {
	t.tell(func(to locktrace.AcquireTracer) { to.Woken(gone) })
}

// Abandoned reports that the acquire's node is given up without a grant.
func (t *Acquire) Abandoned(reason error) {
	t.tell(func(to locktrace.AcquireTracer) { to.Abandoned(reason) })
}
