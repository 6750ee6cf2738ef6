package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/gocurator/curator/internal/semconv"
)

// span is a span with those below it.
type span struct {
	tracetest.SpanStub
	attributes attributes
	children   []*span // sorted by start
	spans      map[trace.SpanID]*span
}

// attributes are looked up by their names.
type attributes []attribute.KeyValue

func (a attributes) value(key string) attribute.Value {
	i := slices.IndexFunc(a, func(kv attribute.KeyValue) bool { return string(kv.Key) == key })
	if i < 0 {
		return attribute.Value{}
	}
	return a[i].Value
}

func (a attributes) text(key string) string  { return a.value(key).AsString() }
func (a attributes) number(key string) int64 { return a.value(key).AsInt64() }

// tracesOf returns the roots of all traces, sorted by start.
func tracesOf(stubs tracetest.SpanStubs) (roots []*span) {
	slices.SortStableFunc(stubs, func(a, b tracetest.SpanStub) int {
		return cmp.Or(a.StartTime.Compare(b.StartTime), b.EndTime.Compare(a.EndTime), cmp.Compare(a.Name, b.Name))
	})
	spans := map[trace.SpanID]*span{}
	for _, stub := range stubs {
		spans[stub.SpanContext.SpanID()] = &span{SpanStub: stub, attributes: stub.Attributes, spans: spans}
	}
	for _, stub := range stubs {
		s := spans[stub.SpanContext.SpanID()]
		if parent := spans[stub.Parent.SpanID()]; parent != nil {
			parent.children = append(parent.children, s)
		} else {
			roots = append(roots, s)
		}
	}
	return roots
}

func (s *span) service() string        { return attributes(s.Resource.Attributes()).text("service.name") }
func (s *span) traceID() string        { return short(s.SpanContext) }
func (s *span) took() string           { return round(s.EndTime.Sub(s.StartTime)) }
func short(c trace.SpanContext) string { return c.TraceID().String()[:8] }

// printTraces prints each trace as a tree. Spans have their durations. Acquires
// have their events, with the time since the span began.
func printTraces(w io.Writer, traces []*span) {
	for i, root := range traces {
		if i > 0 {
			fmt.Fprintln(w)
		}
		at := round(root.StartTime.Sub(traces[0].StartTime))
		fmt.Fprintf(w, "%s, trace %s, at %s\n\n%s\n", root.service(), root.traceID(), at, root.summary())
		printBelow(w, root, "")
	}
}

func printBelow(w io.Writer, s *span, indent string) {
	for i, child := range s.children {
		branch, below := "├─ ", "│  "
		if i == len(s.children)-1 {
			branch, below = "└─ ", "   "
		}
		fmt.Fprintf(w, "%s%s%s\n", indent, branch, child.summary())
		for _, l := range child.Links {
			child.printLink(w, indent+below, l)
		}
		for _, e := range child.Events {
			after := "+" + round(e.Time.Sub(child.StartTime))
			fmt.Fprintf(w, "%s  %-8s %s\n", indent+below, after, child.describe(e))
		}
		printBelow(w, child, indent+below)
	}
}

func (s *span) printLink(w io.Writer, indent string, l sdktrace.Link) {
	kind := attributes(l.Attributes).text(semconv.LinkKind)
	if to := s.spans[l.SpanContext.SpanID()]; to != nil && kind != "acquire" { // that is right beside its hold
		fmt.Fprintf(w, "%s  link to the %s: %q of %s, trace %s\n", indent, kind, to.Name, to.service(), to.traceID())
	}
}

// summary returns a span in one line.
func (s *span) summary() string {
	line := s.Name + "  " + s.took()
	if outcome := s.attributes.text(semconv.LockOutcome); outcome != "" {
		line = s.Name + "  " + s.wait()
		if outcome != "acquired" {
			line += ", " + words(outcome)
		}
	}
	if end := s.attributes.text(semconv.LockEnd); end != "" {
		line += ", " + words(end)
	}
	if s.Status.Code == codes.Error {
		line += ", error: " + s.Status.Description
	}
	return line
}

// wait describes what an acquire waited for. The first event "watching" names its
// predecessor.
func (s *span) wait() string {
	path, position := s.attributes.text(semconv.LockPath), s.attributes.number(semconv.LockPosition)
	if position == 0 {
		return fmt.Sprintf("took %s for %s", s.took(), path)
	}
	behind := s.attributes.text(semconv.LockHolder)
	for _, e := range slices.Backward(s.Events) {
		if e.Name == semconv.EventWatching {
			behind = cmp.Or(attributes(e.Attributes).text(semconv.LockPred), behind)
		}
	}
	return fmt.Sprintf("waited %s for %s, position %d, behind %s", s.took(), path, position, behind)
}

// describe returns the text of an event.
func (s *span) describe(e sdktrace.Event) string {
	a := attributes(e.Attributes)
	by := a.text(semconv.LockPred)
	switch {
	case e.Name == semconv.EventEnqueued && a.number(semconv.LockPosition) == 0:
		return "enqueued, nobody ahead"
	case e.Name == semconv.EventEnqueued:
		return fmt.Sprintf("enqueued, position %d in a queue of %d",
			a.number(semconv.LockPosition), a.number(semconv.LockQueue))
	case e.Name == semconv.EventWatching:
		return "watching " + by
	case e.Name == semconv.EventHandedOver && by != "":
		took := time.Duration(a.value(semconv.LockHandOff).AsFloat64() * float64(time.Second))
		return fmt.Sprintf("handed over by %s, %s after the waiter was notified", by, round(took))
	case e.Name == semconv.EventGranted:
		return fmt.Sprintf("granted, fencing token %d", s.attributes.number(semconv.LockToken))
	}
	return e.Name
}

// words turns a name such as session_lost into text.
func words(name string) string { return strings.ReplaceAll(name, "_", " ") }

// round rounds a duration to about three digits.
func round(d time.Duration) string {
	unit := time.Microsecond
	for d >= 1000*unit {
		unit *= 10
	}
	return d.Round(unit).String()
}
