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
	"github.com/gocurator/curator/recipes/locktrace"
)

// stack is the call stack of an acquire. It is kept as program counters, which is cheap,
// and formatted only for a report.
type stack []uintptr

const stackDepth = 32

// callers returns the stack of the code that called the recipe.
func callers() stack {
	var pcs [stackDepth]uintptr
	const ourselves = 3 // runtime.Callers, callers and StartAcquire
	return append(stack(nil), pcs[:runtime.Callers(ourselves, pcs[:])]...)
}

// String formats the stack as Go prints a goroutine's. It leaves out the
// functions of the recipes.
func (s stack) String() string {
	if len(s) == 0 {
		return ""
	}
	var b strings.Builder
	for frames := runtime.CallersFrames(s); ; {
		frame, more := frames.Next()
		if !isOfRecipes(frame.Function) {
			fmt.Fprintf(&b, "%s\n\t%s:%d\n", frame.Function, frame.File, frame.Line)
		}
		if !more {
			return b.String()
		}
	}
}

// isOfRecipes reports whether a function is in the folder recipes or below it.
func isOfRecipes(function string) bool {
	rest, ok := strings.CutPrefix(function, "github.com/gocurator/curator/recipes")
	return ok && (strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, "/"))
}

// reportSlow reports an acquire that has waited for too long.
func (a *acquire) reportSlow() {
	seen := a.lastWaiting()
	attrs := append(holderAttributes(seen.holder),
		attribute.Float64(semconv.LockWaited, time.Since(a.start).Seconds()),
		attribute.String(semconv.StackTrace, a.stack.String()))
	// The predecessor still exists, even if the holder has changed meanwhile.
	if seen.ahead.node != "" {
		attrs = append(attrs, predecessorAttributes(seen.ahead)...)
	}
	ours := a.tracer.findHold(func(h *hold) bool { return h.node == seen.holder.node })
	if ours != nil {
		attrs = append(attrs, attribute.String(semconv.LockHolderStack, ours.stack.String()))
	}
	a.tracer.report(a.Span, semconv.EventSlowWait, a.request, attrs)
}

// reportSlow reports a lock that has been held for too long.
func (h *hold) reportSlow() {
	h.tracer.report(h.Span, semconv.EventSlowHold, h.request, []attribute.KeyValue{
		attribute.String(semconv.LockNode, h.node),
		attribute.Float64(semconv.LockHeld, time.Since(h.start).Seconds()),
		attribute.String(semconv.StackTrace, h.stack.String()),
	})
}

// report adds an event to the span and logs a line with the same attributes,
// the lock's attributes and the ids of the trace and the span.
func (t *tracer) report(span trace.Span, event string, request locktrace.Acquire, attrs []attribute.KeyValue) {
	span.AddEvent(event, trace.WithAttributes(attrs...))
	var line []slog.Attr
	for _, a := range append(spanAttributes(request), attrs...) {
		line = append(line, slog.Any(string(a.Key), a.Value.AsInterface()))
	}
	if sc := span.SpanContext(); sc.IsValid() {
		line = append(line,
			slog.String("trace_id", sc.TraceID().String()),
			slog.String("span_id", sc.SpanID().String()))
	}
	ctx := trace.ContextWithSpan(context.Background(), span)
	t.logger().LogAttrs(ctx, slog.LevelWarn, event, line...)
}
