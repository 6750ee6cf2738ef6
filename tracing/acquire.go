package tracing

import (
	"context"
	"errors"
	"path"
	"slices"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/internal/semconv"
	"github.com/gocurator/curator/recipes"
)

// acquire is the span of one acquire.
type acquire struct {
	openSpan
	tracer *Tracer
	what   recipes.Acquire
	outer  context.Context // the caller's
	whole  *acquire        // the multi-lock's, if this is of a part of one
	ctx    context.Context // with the span
	start  time.Time
	stack  stack
	*measured
	slow *time.Timer // nil for no report

	place recipes.Queued // the first one
	links []trace.SpanContext
	wakes int
	woken time.Time // zero if the node that was woken is not ours any more
	gone  bool      // the one ahead has left

	seen atomic.Pointer[recipes.Waiting] // who was waited for last; nil for nobody
}

// StartAcquire implements recipes.Tracer.
func (t *Tracer) StartAcquire(ctx context.Context, what recipes.Acquire) (context.Context, recipes.AcquireTracer) {
	a := &acquire{tracer: t, what: what, outer: ctx, start: time.Now(), measured: t.metrics.locks.of(pointOf(what))}
	attrs := spanAttributes(what)
	if what.Try {
		attrs = append(attrs, attribute.Bool(semconv.LockTry, true))
	}
	if deadline, ok := ctx.Deadline(); ok {
		attrs = append(attrs, attribute.Float64(semconv.LockTimeout, time.Until(deadline).Seconds()))
	}
	a.ctx, a.Span = t.spans.Start(ctx, spanName("acquire", what), trace.WithAttributes(attrs...))
	a.client, a.since = what.Client.Root(), a.start
	if whole, ok := ctx.Value(wholeKey{}).(*acquire); ok && trace.SpanContextFromContext(ctx).SpanID() == whole.SpanContext().SpanID() {
		a.whole = whole
	}
	if what.Recipe == recipes.RecipeMultiLock {
		a.ctx = context.WithValue(a.ctx, wholeKey{}, a)
	}
	if t.cfg.slowWait > 0 || t.cfg.slowHold > 0 {
		a.stack = callers()
	}
	if t.cfg.slowWait > 0 && !isLeadership(what) {
		a.slow = time.AfterFunc(t.cfg.slowWait, a.reportSlow)
	}
	t.opened(&a.openSpan)
	a.measured.counts[waiters].add(1)
	return a.ctx, a
}

// wholeKey finds the acquire of a multi-lock, from those of its parts.
type wholeKey struct{}

// Trace implements recipes.AcquireTracer.
func (a *acquire) Trace() map[string]string { return a.tracer.describe(a.ctx) }

// QueuedLocally implements recipes.AcquireTracer. The holder, if there is one in this process, is known without asking.
func (a *acquire) QueuedLocally(ahead int) {
	local := attribute.Int(semconv.LockLocalAhead, ahead)
	a.SetAttributes(local)
	holder := a.localHolder()
	if holder == nil {
		a.event(semconv.EventQueuedLocally, local)
		return
	}
	other := holder.asOther()
	a.seen.Store(&recipes.Waiting{Holder: other})
	attrs := holderAttributes(other)
	a.SetAttributes(attrs...)
	a.event(semconv.EventQueuedLocally, append(attrs, local)...)
	a.link(holder.acquired, "holder")
}

// localHolder returns the hold of this process that the acquire waits for, or nil. At a semaphore it waits for its turn, and
// not for those who have leases.
func (a *acquire) localHolder() *hold {
	if a.what.Recipe == recipes.RecipeSemaphore {
		return nil
	}
	lock := a.what.Client.FullPath(a.what.Path)
	return a.tracer.holdOf(func(h *hold) bool {
		return h.client == a.client && h.what.Recipe == a.what.Recipe && h.what.Client.FullPath(h.what.Path) == lock
	})
}

// Queued implements recipes.AcquireTracer.
func (a *acquire) Queued(q recipes.Queued) {
	if a.IsRecording() {
		a.event(semconv.EventEnqueued,
			attribute.String(semconv.LockNode, path.Base(q.Node)),
			attribute.Int64(semconv.LockToken, q.Czxid),
			attribute.Int(semconv.LockPosition, q.Ahead),
			attribute.Int(semconv.LockQueue, q.Length))
	}
	if a.place == (recipes.Queued{}) {
		a.place = q
	}
}

// Waiting implements recipes.AcquireTracer.
func (a *acquire) Waiting(w recipes.Waiting) {
	a.seen.Store(&w)
	if !a.IsRecording() {
		return
	}
	holder := holderAttributes(w.Holder)
	a.SetAttributes(holder...)
	if w.Ahead.Node != "" {
		holder = append(predecessorAttributes(w.Ahead), holder...)
	}
	a.event(semconv.EventWatching, holder...)
	a.link(a.tracer.spanOf(w.Holder.Identity), "holder")
	a.link(a.tracer.spanOf(w.Ahead.Identity), "predecessor")
}

// link adds a link, unless there is one to the same span already.
func (a *acquire) link(to trace.SpanContext, kind string) {
	same := func(l trace.SpanContext) bool { // whether it was read from a node or not
		return l.TraceID() == to.TraceID() && l.SpanID() == to.SpanID()
	}
	if !to.IsValid() || slices.ContainsFunc(a.links, same) {
		return
	}
	a.links = append(a.links, to)
	a.AddLink(linkTo(to, kind))
}

func linkTo(to trace.SpanContext, kind string) trace.Link {
	return trace.Link{SpanContext: to, Attributes: []attribute.KeyValue{attribute.String(semconv.LinkKind, kind)}}
}

// Woken implements recipes.AcquireTracer.
func (a *acquire) Woken(gone bool) {
	a.wakes++
	a.woken, a.gone = time.Now(), gone
	a.AddEvent(semconv.EventWoken)
}

// Abandoned implements recipes.AcquireTracer.
func (a *acquire) Abandoned(reason error) {
	a.woken = time.Time{}
	a.event(semconv.EventAbandoned, attribute.String(semconv.Cause, reason.Error()))
}

// Ended implements recipes.AcquireTracer.
func (a *acquire) Ended(end recipes.AcquireEnd) {
	if a.slow != nil {
		a.slow.Stop()
	}
	took := time.Since(a.start)
	if end.Outcome == recipes.Acquired {
		a.granted(end)
	}
	if a.IsRecording() {
		a.SetAttributes(a.outcome(end)...)
	}
	a.tracer.closed(&a.openSpan)
	a.End()
	a.count(end, took)
}

func (a *acquire) granted(end recipes.AcquireEnd) {
	switch {
	case end.HandedOver:
		a.event(semconv.EventHandedOver, attribute.Bool(semconv.LockLocal, true))
	case !a.woken.IsZero():
		a.handedOver()
	}
	a.AddEvent(semconv.EventGranted)
}

// outcome returns the attributes that are known at the end.
func (a *acquire) outcome(end recipes.AcquireEnd) []attribute.KeyValue {
	attrs := append(make([]attribute.KeyValue, 0, 6), attribute.String(semconv.LockOutcome, string(end.Outcome)))
	if a.place.Length > 0 {
		attrs = append(attrs,
			attribute.Int(semconv.LockPosition, a.place.Ahead),
			attribute.Int(semconv.LockQueue, a.place.Length))
	}
	if a.wakes > 0 {
		attrs = append(attrs, attribute.Int(semconv.LockWakes, a.wakes))
	}
	if end.Outcome != recipes.Acquired {
		return append(attrs, a.refused(end)...)
	}
	if end.Token != 0 {
		attrs = append(attrs, attribute.Int64(semconv.LockToken, end.Token))
	}
	if end.Downgraded {
		attrs = append(attrs, attribute.Bool(semconv.LockDowngraded, true))
	}
	return attrs
}

// handedOver tells who has left, so that we have the lock. In a crowd nobody knows.
func (a *acquire) handedOver() {
	after := time.Since(a.woken)
	attrs := []attribute.KeyValue{attribute.Float64(semconv.LockHandOff, after.Seconds())}
	if a.gone {
		attrs = append(attrs, predecessorAttributes(a.lastSeen().Ahead)...)
	}
	a.event(semconv.EventHandedOver, attrs...)
	a.tracer.metrics.handOffDuration.Record(a.ctx, after.Seconds(), a.record...)
}

// refused notes why there is no lock. That others had it, and that the caller has gone, is no failure of anybody's.
func (a *acquire) refused(end recipes.AcquireEnd) []attribute.KeyValue {
	attrs := a.holderOf(end.Err)
	if end.Outcome == recipes.NotAcquired {
		return attrs
	}
	if end.Outcome != recipes.Canceled {
		a.SetStatus(codes.Error, end.Err.Error())
	}
	return append(attrs, attribute.String(semconv.ErrorType, errorType(end.Err)))
}

// holderOf takes the holder from the error of an acquire that has not seen it by itself: one that did not wait, or that
// had no node.
func (a *acquire) holderOf(err error) []attribute.KeyValue {
	var held *recipes.NotAcquiredError
	if !errors.As(err, &held) || held.Holder == "" || a.lastSeen().Holder.Node != "" {
		return nil
	}
	a.link(a.tracer.spanOf(held.Identity), "holder")
	return holderAttributes(recipes.Other{Node: printable.String(held.Holder), Identity: held.Identity})
}

// lastSeen returns who was waited for last, as far as is known.
func (a *acquire) lastSeen() recipes.Waiting {
	if w := a.seen.Load(); w != nil {
		return *w
	}
	return recipes.Waiting{}
}

// count measures what has ended.
func (a *acquire) count(end recipes.AcquireEnd, took time.Duration) {
	m, point := a.tracer.metrics, pointOf(a.what)
	a.measured.counts[waiters].add(-1)
	point.outcome = string(end.Outcome)
	if end.Outcome == recipes.Failed {
		point.errorType = errorType(end.Err)
	}
	about := m.locks.of(point)
	about.counts[acquisitions].add(1)
	m.acquireDuration.Record(a.ctx, took.Seconds(), about.record...)
}

func (a *acquire) event(name string, attrs ...attribute.KeyValue) {
	a.AddEvent(name, trace.WithAttributes(attrs...))
}

func holderAttributes(o recipes.Other) []attribute.KeyValue {
	attrs := []attribute.KeyValue{attribute.String(semconv.LockHolder, o.Identity.String())}
	if o.Node != "" {
		attrs = append(attrs, attribute.String(semconv.LockHolderNode, o.Node))
	}
	if !o.Since.IsZero() {
		attrs = append(attrs, attribute.Float64(semconv.LockHolderAge, max(time.Since(o.Since), 0).Seconds()))
	}
	return attrs
}

func predecessorAttributes(o recipes.Other) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.String(semconv.LockPred, o.Identity.String()),
		attribute.String(semconv.LockPredNode, o.Node),
	}
}
