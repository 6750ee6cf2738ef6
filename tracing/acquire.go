package tracing

import (
	"context"
	"path"
	"slices"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/semconv"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/locktrace"
)

// acquire is the trace of one call that acquires a lock. It implements
// locktrace.AcquireTracer.
type acquire struct {
	openSpan
	tracer    *tracer
	request   locktrace.Acquire
	callerCtx context.Context // the caller's own
	multi     *acquire        // the acquire of the multi-lock that this acquire belongs to, or nil
	ctx       context.Context // callerCtx with the span of this acquire
	start     time.Time
	stack     stack
	*series
	slow *time.Timer // reports a slow wait; nil for no report

	firstQueued     locktrace.Queued // the place of the first node in the queue
	links           []trace.SpanContext
	wakes           int
	woken           time.Time // zero once the woken node is given up
	predecessorGone bool      // the predecessor has left

	lastWait atomic.Pointer[waiting] // nil before the first wait
}

// StartAcquire implements the hook.
func (t *tracer) StartAcquire(
	ctx context.Context, request locktrace.Acquire,
) (context.Context, locktrace.AcquireTracer) {
	a := &acquire{
		tracer:    t,
		request:   request,
		callerCtx: ctx,
		start:     time.Now(),
		series:    t.metrics.locks.lookUp(pointOf(request)),
	}
	attrs := spanAttributes(request)
	if request.Try {
		attrs = append(attrs, attribute.Bool(semconv.LockTry, true))
	}
	if deadline, ok := ctx.Deadline(); ok {
		attrs = append(attrs, attribute.Float64(semconv.LockTimeout, time.Until(deadline).Seconds()))
	}
	a.ctx, a.Span = t.spans.Start(ctx, spanName("acquire", request), trace.WithAttributes(attrs...))
	a.client, a.since = framework.Extend(request.Client).Root(), a.start
	a.multi = multiLockOf(ctx)
	if request.Recipe == locktrace.RecipeMultiLock {
		a.ctx = context.WithValue(a.ctx, multiLockKey{}, a)
	}
	if t.cfg.slowWait > 0 || t.cfg.slowHold > 0 {
		a.stack = callers()
	}
	if t.cfg.slowWait > 0 && !isLeadership(request) {
		a.slow = time.AfterFunc(t.cfg.slowWait, a.reportSlow)
	}
	t.track(&a.openSpan)
	a.series.counts[waiters].add(1)
	return a.ctx, a
}

// multiLockKey is the context key for the acquire of a multi-lock. The acquires of its
// locks use it to find that acquire.
type multiLockKey struct{}

// multiLockOf returns the acquire of the multi-lock to which ctx belongs, or nil. If ctx
// has a different span than that acquire, ctx belongs to work under the multi-lock.
func multiLockOf(ctx context.Context) *acquire {
	multi, ok := ctx.Value(multiLockKey{}).(*acquire)
	if !ok || trace.SpanContextFromContext(ctx).SpanID() != multi.SpanContext().SpanID() {
		return nil
	}
	return multi
}

// Trace implements locktrace.AcquireTracer.
func (a *acquire) Trace() map[string]string { return a.tracer.traceFields(a.ctx) }

// QueuedLocally implements locktrace.AcquireTracer. A holder in this process is known
// without a request.
func (a *acquire) QueuedLocally(ahead int) {
	local := attribute.Int(semconv.LockLocalAhead, ahead)
	a.SetAttributes(local)
	holder := a.localHolder()
	if holder == nil {
		a.event(semconv.EventQueuedLocally, local)
		return
	}
	other := holder.asHolder()
	a.lastWait.Store(&waiting{holder: other})
	attrs := holderAttributes(other)
	a.SetAttributes(attrs...)
	a.event(semconv.EventQueuedLocally, append(attrs, local)...)
	a.link(holder.acquireSpan, "holder")
}

// localHolder returns the hold of this process that blocks the acquire, or nil. For a
// semaphore it returns nil: an acquire waits for its turn to take leases, and the holders
// of leases do not block the turn.
func (a *acquire) localHolder() *hold {
	if a.request.Recipe == locktrace.RecipeSemaphore {
		return nil
	}
	lock := fullPath(a.request)
	return a.tracer.findHold(func(h *hold) bool {
		return h.client == a.client &&
			h.request.Recipe == a.request.Recipe &&
			fullPath(h.request) == lock
	})
}

// Queued implements locktrace.AcquireTracer.
func (a *acquire) Queued(q locktrace.Queued) {
	if a.IsRecording() {
		a.event(semconv.EventEnqueued,
			attribute.String(semconv.LockNode, path.Base(q.Node)),
			attribute.Int64(semconv.LockToken, q.Czxid),
			attribute.Int(semconv.LockPosition, q.Ahead),
			attribute.Int(semconv.LockQueue, q.Length))
	}
	if a.firstQueued == (locktrace.Queued{}) {
		a.firstQueued = q
	}
}

// Waiting implements locktrace.AcquireTracer.
func (a *acquire) Waiting(w locktrace.Waiting) {
	holder, ahead := contenderOf(w.Holder), contenderOf(w.Ahead)
	a.lastWait.Store(&waiting{ahead, holder})
	if !a.IsRecording() {
		return
	}
	attrs := holderAttributes(holder)
	a.SetAttributes(attrs...)
	if ahead.node != "" {
		attrs = append(predecessorAttributes(ahead), attrs...)
	}
	a.event(semconv.EventWatching, attrs...)
	a.link(a.tracer.spanOf(holder.identity), "holder")
	a.link(a.tracer.spanOf(ahead.identity), "predecessor")
}

// link adds a link, unless the span already has one to the same span.
func (a *acquire) link(to trace.SpanContext, kind string) {
	// A span context is remote if it was read from a node, and local if the span belongs
	// to this process. The rest is the same.
	same := func(l trace.SpanContext) bool {
		return l.TraceID() == to.TraceID() && l.SpanID() == to.SpanID()
	}
	if !to.IsValid() || slices.ContainsFunc(a.links, same) {
		return
	}
	a.links = append(a.links, to)
	a.AddLink(linkTo(to, kind))
}

func linkTo(to trace.SpanContext, kind string) trace.Link {
	return trace.Link{
		SpanContext: to,
		Attributes:  []attribute.KeyValue{attribute.String(semconv.LinkKind, kind)},
	}
}

// Woken implements locktrace.AcquireTracer.
func (a *acquire) Woken(gone bool) {
	a.wakes++
	a.woken, a.predecessorGone = time.Now(), gone
	a.AddEvent(semconv.EventWoken)
}

// Abandoned implements locktrace.AcquireTracer.
func (a *acquire) Abandoned(reason error) {
	a.woken = time.Time{}
	a.event(semconv.EventAbandoned, attribute.String(semconv.Cause, reason.Error()))
}

// Ended implements locktrace.AcquireTracer.
func (a *acquire) Ended(end locktrace.AcquireEnd) {
	if a.slow != nil {
		a.slow.Stop()
	}
	took := time.Since(a.start)
	if end.Outcome == locktrace.Acquired {
		a.granted(end)
	}
	if a.IsRecording() {
		a.SetAttributes(a.outcomeAttributes(end)...)
	}
	a.tracer.untrack(&a.openSpan)
	a.End()
	a.recordMetrics(end, took)
}

func (a *acquire) granted(end locktrace.AcquireEnd) {
	switch {
	case end.HandedOver:
		a.event(semconv.EventHandedOver, attribute.Bool(semconv.LockLocal, true))
	case !a.woken.IsZero():
		a.recordHandOver()
	}
	a.AddEvent(semconv.EventGranted)
}

// outcomeAttributes returns the attributes that are known when the acquire ends.
func (a *acquire) outcomeAttributes(end locktrace.AcquireEnd) []attribute.KeyValue {
	attrs := append(make([]attribute.KeyValue, 0, 6),
		attribute.String(semconv.LockOutcome, string(end.Outcome)))
	if a.firstQueued.Length > 0 {
		attrs = append(attrs,
			attribute.Int(semconv.LockPosition, a.firstQueued.Ahead),
			attribute.Int(semconv.LockQueue, a.firstQueued.Length))
	}
	if a.wakes > 0 {
		attrs = append(attrs, attribute.Int(semconv.LockWakes, a.wakes))
	}
	if end.Outcome != locktrace.Acquired {
		return append(attrs, a.failureAttributes(end)...)
	}
	if end.Token != 0 {
		attrs = append(attrs, attribute.Int64(semconv.LockToken, end.Token))
	}
	if end.Downgraded {
		attrs = append(attrs, attribute.Bool(semconv.LockDowngraded, true))
	}
	return attrs
}

// recordHandOver records which contender left, and how long the grant took after that. An
// acquire that waits for several contenders at once, for example for a semaphore's
// leases, does not know which of them left.
func (a *acquire) recordHandOver() {
	after := time.Since(a.woken)
	attrs := []attribute.KeyValue{attribute.Float64(semconv.LockHandOff, after.Seconds())}
	if a.predecessorGone {
		attrs = append(attrs, predecessorAttributes(a.lastWaiting().ahead)...)
	}
	a.event(semconv.EventHandedOver, attrs...)
	a.tracer.metrics.histograms[semconv.HandOffDuration].Record(a.ctx, after.Seconds(), a.record...)
}

// failureAttributes describes why the acquire failed. It sets the span's status to an
// error, except in two cases: a try found the lock held, or the caller's context was
// cancelled.
func (a *acquire) failureAttributes(end locktrace.AcquireEnd) []attribute.KeyValue {
	attrs := a.holderFromError(end.Err)
	if end.Outcome == locktrace.NotAcquired {
		return attrs
	}
	if end.Outcome != locktrace.Canceled {
		a.SetStatus(codes.Error, end.Err.Error())
	}
	return append(attrs, attribute.String(semconv.ErrorType, errorType(end.Err)))
}

// holderFromError returns the holder from the error, for an acquire that has not seen the
// holder itself because it did not wait or had no node.
func (a *acquire) holderFromError(err error) []attribute.KeyValue {
	var held *locks.NotAcquiredError
	if !reason.As(err, &held) || held.Holder == "" || a.lastWaiting().holder.node != "" {
		return nil
	}
	holder := contender{node: printable.String(held.Holder), identity: held.Identity()}
	a.link(a.tracer.spanOf(holder.identity), "holder")
	return holderAttributes(holder)
}

// lastWaiting returns the last holder and predecessor that the acquire saw. Both are
// empty if it has seen neither.
func (a *acquire) lastWaiting() waiting {
	if w := a.lastWait.Load(); w != nil {
		return *w
	}
	return waiting{}
}

// recordMetrics records the metrics of an acquire that has ended.
func (a *acquire) recordMetrics(end locktrace.AcquireEnd, took time.Duration) {
	m, point := a.tracer.metrics, pointOf(a.request)
	a.series.counts[waiters].add(-1)
	point.outcome = string(end.Outcome)
	if end.Outcome == locktrace.Failed {
		point.errorType = errorType(end.Err)
	}
	ended := m.locks.lookUp(point)
	ended.counts[acquisitions].add(1)
	m.histograms[semconv.AcquireDuration].Record(a.ctx, took.Seconds(), ended.record...)
}

func (a *acquire) event(name string, attrs ...attribute.KeyValue) {
	a.AddEvent(name, trace.WithAttributes(attrs...))
}

// contender is another contender for a lock, read from its node.
type contender struct {
	node     string
	identity locks.Identity
	since    time.Time
}

// waiting has the contenders for which an acquire waits.
type waiting struct{ ahead, holder contender }

func contenderOf(c locktrace.Contender) contender {
	return contender{node: c.Node, identity: locks.ReadIdentity(c.Data), since: c.Since}
}

func holderAttributes(o contender) []attribute.KeyValue {
	attrs := []attribute.KeyValue{attribute.String(semconv.LockHolder, o.identity.String())}
	if o.node != "" {
		attrs = append(attrs, attribute.String(semconv.LockHolderNode, o.node))
	}
	if !o.since.IsZero() {
		attrs = append(attrs, attribute.Float64(semconv.LockHolderAge, max(time.Since(o.since), 0).Seconds()))
	}
	return attrs
}

func predecessorAttributes(o contender) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.String(semconv.LockPred, o.identity.String()),
		attribute.String(semconv.LockPredNode, o.node),
	}
}
