package trace

import (
	"cmp"
	"context"
	"maps"
	"path"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/flight"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/recipes/locktrace"
)

var hookStartAcquire = framework.NewHookKind[locktrace.HookStartAcquire]()

// Acquire reports one acquire to the client's flight recorder, and to the hooks
// that hear of acquires. The nil *Acquire reports nothing.
type Acquire struct {
	record flight.Record // the acquire's, and then the hold's
	hold   Hold          // here, so that both are one allocation

	to         []locktrace.AcquireTracer // the hooks' answers
	handedOver bool
	downgraded bool
}

// StartAcquire tells the hooks that hear of acquires, and begins the flight
// recorder's record. The acquire has begun at the time since. StartAcquire
// returns the context for the rest of the acquire. The *Acquire is nil if there
// is neither such a hook nor a recorder.
func StartAcquire(ctx context.Context, a locktrace.Acquire, since time.Time) (context.Context, *Acquire) {
	return start(ctx, a, insider.Of(a.Client).Recorder(), since)
}

// StartSeveral is StartAcquire for several locks that are acquired as one. The
// flight recorder knows each of them by its own acquire.
func StartSeveral(ctx context.Context, a locktrace.Acquire) (context.Context, *Acquire) {
	return start(ctx, a, nil, time.Time{})
}

// start calls the hooks. A hook may return nil for the context, and for the tracer.
func start(
	ctx context.Context, a locktrace.Acquire, recorder *flight.Recorder, since time.Time,
) (context.Context, *Acquire) {
	those := hookStartAcquire.Of(a.Client)
	if len(those) == 0 && recorder == nil {
		return ctx, nil
	}
	t := &Acquire{}
	for _, h := range those {
		started, to := h.StartAcquire(ctx, a)
		if ctx = cmp.Or(started, ctx); to != nil {
			t.to = append(t.to, to)
		}
	}
	recorder.Begin(&t.record, flight.What{
		Path: framework.Extend(a.Client).FullPath(a.Path), Recipe: a.Recipe, Name: a.Name, Shared: a.Shared, Leases: a.Leases,
	}, since)
	return ctx, t
}

// IsTraced reports whether a hook is told of the acquire.
func (t *Acquire) IsTraced() bool { return t != nil && len(t.to) > 0 }

// Ended tells how the acquire ended.
func (t *Acquire) Ended(end locktrace.AcquireEnd) {
	if t == nil {
		return
	}
	t.record.Ended(kindOf(end.Outcome), string(end.Outcome), end.Err)
	end.HandedOver, end.Downgraded = t.handedOver, t.downgraded
	for _, to := range t.to {
		to.Ended(end)
	}
}

// kindOf returns the kind of the event that an outcome is for the flight
// recorder. That others were first is nothing rare.
func kindOf(outcome locktrace.Outcome) flight.Kind {
	switch outcome {
	case locktrace.Acquired:
		return flight.Acquired
	case locktrace.Failed:
		return flight.AcquireFailed
	default:
		return flight.NotAcquired
	}
}

// Link returns the entries that identify the acquire's trace in its nodes.
func (t *Acquire) Link() map[string]string {
	if !t.IsTraced() {
		return nil
	}
	link := map[string]string{}
	for _, to := range t.to {
		maps.Copy(link, to.Trace())
	}
	return link
}

// QueuedLocally reports that the acquire waits in the process. The argument
// where tells its place from then on, to any goroutine.
func (t *Acquire) QueuedLocally(ahead int, where func() flight.Standing) {
	if t == nil {
		return
	}
	t.record.QueuedLocally(where)
	for _, to := range t.to {
		to.QueuedLocally(ahead)
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
	why := context.Cause(node.Session.Trusted(framework.Extend(c).ErrorPolicy()))
	t.Abandoned(cmp.Or(why, framework.ErrSuspended)) // nil if the connection is back already
}

// Other is another contender: the path or the name of its node, and what we know of
// that.
type Other = flight.Contender

// Queued reports that our node is in the queue, with ahead contenders before it. The
// length of the queue includes our node.
func (t *Acquire) Queued(node framework.Created, ahead, length int) {
	if t == nil {
		return
	}
	t.record.Queued(path.Base(node.Path), ahead)
	for _, to := range t.to {
		to.Queued(locktrace.Queued{Node: node.Path, Czxid: node.Czxid, Ahead: ahead, Length: length})
	}
}

// Waiting reports that we wait for a change of the contender directly ahead, with so
// many contenders before us at a time. Where places are counted, ahead is the zero
// value.
func (t *Acquire) Waiting(position int, seen time.Time, ahead, holder Other) {
	if t == nil {
		return
	}
	t.record.Blocked(position, seen, ahead, holder)
	for _, to := range t.to {
		to.Waiting(locktrace.Waiting{Ahead: contender(ahead), Holder: contender(holder)})
	}
}

// Woken reports that something has changed. The argument gone tells whether the
// contender directly ahead has left.
func (t *Acquire) Woken(gone bool) {
	if t == nil {
		return
	}
	for _, to := range t.to {
		to.Woken(gone)
	}
}

// Abandoned reports that our node is given up without a grant.
func (t *Acquire) Abandoned(reason error) {
	if t == nil {
		return
	}
	t.record.Abandoned()
	for _, to := range t.to {
		to.Abandoned(reason)
	}
}

func contender(o Other) locktrace.Contender {
	return locktrace.Contender{Node: printable.String(o.Node), Data: o.Data, Since: o.Since}
}
