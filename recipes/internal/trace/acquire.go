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

// Acquire reports one acquire to the hooks that follow acquires. The nil *Acquire
// reports nothing.
type Acquire struct {
	hold Hold // here, so that both are one allocation

	to []locktrace.AcquireTracer // the hooks' answers
}

// StartAcquire reports the begin of an acquire, and returns the context for the rest of
// the acquire. The *Acquire is nil if no hook follows this acquire. A hook may return nil
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

// tell makes a call of each hook's answer.
func (t *Acquire) tell(call func(locktrace.AcquireTracer)) {
	if t != nil {
		for _, to := range t.to {
			call(to)
		}
	}
}

// Ended tells how the acquire ended.
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

// QueuedLocally reports that the acquire waits in the process, with ahead acquires of
// the client before it.
func (t *Acquire) QueuedLocally(ahead int) {
	t.tell(func(to locktrace.AcquireTracer) { to.QueuedLocally(ahead) })
}

// Distrusted reports a node that was admitted and is given up because of an
// interruption between the grant and now.
func (t *Acquire) Distrusted(c *framework.Client, node framework.Created) {
	why := context.Cause(node.Session.Trusted(framework.Extend(c).ErrorPolicy()))
	t.Abandoned(cmp.Or(why, framework.ErrSuspended)) // nil if the connection is back already
}

// Queued reports that our node is in the queue, with ahead contenders before it. The
// length of the queue includes our node.
func (t *Acquire) Queued(node framework.Created, ahead, length int) {
	t.tell(func(to locktrace.AcquireTracer) {
		to.Queued(locktrace.Queued{Node: node.Path, Czxid: node.Czxid, Ahead: ahead, Length: length})
	})
}

// Waiting reports that we wait for a change of the contender directly ahead. Where places
// are counted, w.Ahead is the zero value.
func (t *Acquire) Waiting(w locktrace.Waiting) {
	if t == nil {
		return
	}
	w.Ahead.Node, w.Holder.Node = printable.String(w.Ahead.Node), printable.String(w.Holder.Node)
	t.tell(func(to locktrace.AcquireTracer) { to.Waiting(w) })
}

// Woken reports that something has changed. The argument gone tells whether the
// contender directly ahead has left.
func (t *Acquire) Woken(gone bool) {
	t.tell(func(to locktrace.AcquireTracer) { to.Woken(gone) })
}

// Abandoned reports that our node is given up without a grant.
func (t *Acquire) Abandoned(reason error) {
	t.tell(func(to locktrace.AcquireTracer) { to.Abandoned(reason) })
}
