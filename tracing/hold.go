package tracing

import (
	"context"
	"os"
	"path"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/gocurator/curator/internal/hostname"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/semconv"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/locktrace"
)

// hold is the trace of one held lock. It implements locktrace.HoldTracer.
type hold struct {
	openSpan
	tracer      *tracer
	request     locktrace.Acquire
	node        string // the name of the holder's node, without the path
	acquireSpan trace.SpanContext
	ctx         context.Context // the context that has the span of this hold
	workSpan    trace.Span      // for the work; nil keeps the caller's span
	start       time.Time
	stack       stack
	*series
	slow    *time.Timer // reports a slow hold; nil for no report
	endOnce sync.Once   // ClientClosed may end the hold before Ended does
}

// StartHold implements locktrace.AcquireTracer.
//
// The span is a sibling of the acquire's span, for two reasons: trace viewers display a
// parent badly if it ends before its child begins, and a wait is easiest to read next to
// the work that follows it. If the acquire has no parent, the hold is a child of the
// acquire, so that both are in one trace and links from other processes lead there.
func (a *acquire) StartHold(held locktrace.Hold) locktrace.HoldTracer {
	h := &hold{
		tracer:      a.tracer,
		request:     a.request,
		node:        path.Base(held.Node),
		acquireSpan: a.SpanContext(),
		start:       time.Now(),
		stack:       a.stack,
		series:      a.series,
	}
	parent := a.callerCtx
	isRoot := !trace.SpanContextFromContext(parent).IsValid()
	if isRoot {
		parent = a.ctx
	}
	attrs := append(spanAttributes(a.request),
		attribute.Int64(semconv.LockToken, held.Token),
		attribute.String(semconv.LockNode, h.node))
	opts := []trace.SpanStartOption{trace.WithAttributes(attrs...)}
	if !isRoot {
		opts = append(opts, trace.WithLinks(linkTo(h.acquireSpan, "acquire")))
	}
	h.ctx, h.Span = a.tracer.spans.Start(parent, spanName("hold", a.request), opts...)
	h.client, h.since, h.hold = a.client, h.start, h
	switch {
	case isRoot:
		h.workSpan = h.Span
	case a.multi != nil:
		// The span of the multi-lock's acquire has ended when the work begins.
		h.workSpan = trace.SpanFromContext(a.multi.callerCtx)
		if !h.workSpan.SpanContext().IsValid() {
			h.workSpan = h.Span
		}
	}
	if after := a.tracer.cfg.slowHold; after > 0 && !isLeadership(h.request) {
		h.slow = time.AfterFunc(after, h.reportSlow)
	}
	a.tracer.track(&h.openSpan)
	h.counts[holders].add(1)
	return h
}

// asHolder describes a hold of this process in the same form as the holder's node
// describes it to other processes.
func (h *hold) asHolder() contender {
	return contender{
		node:     h.node,
		identity: locks.Identity{Service: h.client.ServiceName(), Host: hostname.Get(), PID: os.Getpid()},
		since:    h.start,
	}
}

// Context implements locktrace.HoldTracer. If the caller has a span, the work under the
// lock belongs to that span. Otherwise the work belongs to the hold's span.
func (h *hold) Context(ctx context.Context) context.Context {
	if h.workSpan == nil {
		return ctx
	}
	return trace.ContextWithSpan(ctx, h.workSpan)
}

// Reentered implements locktrace.HoldTracer.
func (h *hold) Reentered() {
	h.AddEvent(semconv.EventReentered)
	point := pointOf(h.request)
	point.outcome = reentered
	h.tracer.metrics.locks.lookUp(point).counts[acquisitions].add(1)
}

// reentered is the outcome of a re-entrant acquire. The recipes do not report such an
// acquire separately.
const reentered = "reentered"

// Revoked implements locktrace.HoldTracer.
func (h *hold) Revoked() { h.AddEvent(semconv.EventRevoked) }

// Ended implements locktrace.HoldTracer.
func (h *hold) Ended(end locktrace.HoldEnd) { h.endOnce.Do(func() { h.end(end) }) }

func (h *hold) end(end locktrace.HoldEnd) {
	if h.slow != nil {
		h.slow.Stop()
	}
	took := time.Since(h.start)
	cause := attribute.String(semconv.LockEnd, string(end.Cause))
	h.SetAttributes(cause)
	m, point := h.tracer.metrics, pointOf(h.request)
	h.counts[holders].add(-1)
	point.end = string(end.Cause)
	ended := m.locks.lookUp(point)
	switch {
	case end.Cause != locktrace.EndReleased:
		h.AddEvent(semconv.EventLost, trace.WithAttributes(cause,
			attribute.String(semconv.Cause, end.Err.Error())))
		h.SetAttributes(attribute.String(semconv.ErrorType, string(end.Cause)))
		h.SetStatus(codes.Error, end.Err.Error())
		ended.counts[losses].add(1)
	case end.Err != nil && !reason.Is(end.Err, context.Canceled):
		// The client deletes the node in the background. Until then, other contenders
		// wait.
		h.SetAttributes(attribute.String(semconv.ErrorType, errorType(end.Err)))
	}
	h.End()
	m.histograms[semconv.HoldDuration].Record(h.ctx, took.Seconds(), ended.record...)
	// This comes last: ClientClosed waits for every hold that is still tracked.
	h.tracer.untrack(&h.openSpan)
}

// Overrun implements locktrace.HoldTracer. The span of the leadership itself has already
// ended, or ends with the release.
func (h *hold) Overrun() (returned func()) {
	attrs := append(spanAttributes(h.request), attribute.String(semconv.LockNode, h.node))
	_, span := h.tracer.spans.Start(h.ctx, spanName("overrun", h.request), trace.WithAttributes(attrs...))
	span.SetStatus(codes.Error, "the work goes on after the end of its leadership")
	h.counts[overruns].add(1)
	return func() { span.End() }
}
