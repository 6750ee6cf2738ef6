package tracing

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/gocurator/curator/internal/semconv"
	"github.com/gocurator/curator/recipes"
)

// stack is where an acquire was called. It is kept as addresses, which costs little, and made readable for a report.
type stack []uintptr

const stackDepth = 32

// callers returns the stack of who called the recipe.
func callers() stack {
	var pcs [stackDepth]uintptr
	const ourselves = 3 // Callers, callers, StartAcquire
	return append(stack(nil), pcs[:runtime.Callers(ourselves, pcs[:])]...)
}

// String is in the form of a goroutine's stack. The functions of this module that the call passed through are left out.
func (s stack) String() string {
	if len(s) == 0 {
		return ""
	}
	var b strings.Builder
	for frames := runtime.CallersFrames(s); ; {
		frame, more := frames.Next()
		if !strings.HasPrefix(frame.Function, "github.com/gocurator/curator/recipes.") {
			fmt.Fprintf(&b, "%s\n\t%s:%d\n", frame.Function, frame.File, frame.Line)
		}
		if !more {
			return b.String()
		}
	}
}

// reportSlow is called when an acquire has waited for too long.
func (a *acquire) reportSlow() {
	seen := a.lastWaiting()
	attrs := append(holderAttributes(seen.Holder),
		attribute.Float64(semconv.LockWaited, time.Since(a.start).Seconds()),
		attribute.String(semconv.StackTrace, a.stack.String()))
	if seen.Ahead.Node != "" { // it is there still, when the holder may have gone
		attrs = append(attrs, predecessorAttributes(seen.Ahead)...)
	}
	ours := a.tracer.findHold(func(h *hold) bool { return h.node == seen.Holder.Node })
	if ours != nil {
		attrs = append(attrs, attribute.String(semconv.LockHolderStack, ours.stack.String()))
	}
	a.tracer.report(a.Span, semconv.EventSlowWait, a.request, attrs)
}

// reportSlow is called when a lock has been held for too long.
func (h *hold) reportSlow() {
	h.tracer.report(h.Span, semconv.EventSlowHold, h.request, []attribute.KeyValue{
		attribute.String(semconv.LockNode, h.node),
		attribute.Float64(semconv.LockHeld, time.Since(h.start).Seconds()),
		attribute.String(semconv.StackTrace, h.stack.String()),
	})
}

// report adds an event and writes a line that says the same, about which lock, and where its trace is.
func (t *Tracer) report(span trace.Span, event string, request recipes.Acquire, attrs []attribute.KeyValue) {
	span.AddEvent(event, trace.WithAttributes(attrs...))
	var line []slog.Attr
	for _, a := range append(spanAttributes(request), attrs...) {
		line = append(line, slog.Any(string(a.Key), a.Value.AsInterface()))
	}
	if sc := span.SpanContext(); sc.IsValid() {
		line = append(line, slog.String("trace_id", sc.TraceID().String()), slog.String("span_id", sc.SpanID().String()))
	}
	ctx := trace.ContextWithSpan(context.Background(), span)
	t.logger().LogAttrs(ctx, slog.LevelWarn, event, line...)
}
