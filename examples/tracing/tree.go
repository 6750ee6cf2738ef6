package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// printTraces prints each trace as a tree of spans with their links and events.
func printTraces(out io.Writer, spans tracetest.SpanStubs) {
	slices.SortFunc(spans, func(a, b tracetest.SpanStub) int {
		return cmp.Or(a.StartTime.Compare(b.StartTime), b.EndTime.Compare(a.EndTime))
	})
	for _, s := range spans {
		if !s.Parent.IsValid() {
			fmt.Fprintf(out, "%s\n", origin(s))
			printTree(out, spans, s, "")
		}
	}
}

func printTree(out io.Writer, spans tracetest.SpanStubs, s tracetest.SpanStub, indent string) {
	since := func(t time.Time) time.Duration { return t.Sub(s.StartTime).Round(time.Millisecond / 10) }
	fmt.Fprintf(out, "%s%s  %v%s\n", indent, s.Name, since(s.EndTime), details(s.Attributes))
	for _, to := range spans {
		isTo := func(l sdktrace.Link) bool { return l.SpanContext.SpanID() == to.SpanContext.SpanID() }
		if to.SpanContext.TraceID() != s.SpanContext.TraceID() && slices.ContainsFunc(s.Links, isTo) {
			fmt.Fprintf(out, "%s    link to %q of %s\n", indent, to.Name, origin(to))
		}
	}
	for _, e := range s.Events {
		fmt.Fprintf(out, "%s    +%-7v %s%s\n", indent, since(e.Time), e.Name, details(e.Attributes))
	}
	for _, child := range spans {
		if child.Parent.SpanID() == s.SpanContext.SpanID() {
			printTree(out, spans, child, indent+"  ")
		}
	}
}

// origin returns the names of a span's service and trace.
func origin(s tracetest.SpanStub) string {
	service, _ := s.Resource.Set().Value("service.name")
	return fmt.Sprintf("%s, trace %.8s", service.AsString(), s.SpanContext.TraceID())
}

// details returns the attributes that the program prints, without their prefix.
func details(attributes []attribute.KeyValue) (text string) {
	for _, kv := range attributes {
		switch name := strings.TrimPrefix(string(kv.Key), "curator.lock."); name {
		case "path", "position", "queue.length", "predecessor", "fencing_token", "end":
			text += fmt.Sprintf("  %s=%s", name, kv.Value.String())
		}
	}
	return text
}
