package main

import (
	"cmp"
	"encoding/hex"
	"slices"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/gocurator/curator/internal/semconv"
)

// span is a span in the form that is printed and drawn.
type span struct {
	service    string
	name       string
	trace      string // the trace id in hexadecimal digits, like all ids
	id         string
	parent     string // empty for a root
	start, end time.Time
	attributes attributes
	events     []event
	links      []link
	problem    string // the description of an error status; empty without one

	children []*span // sorted by start
}

type event struct {
	at         time.Time
	name       string
	attributes attributes
}

type link struct {
	trace, id string
	kind      string // see semconv.LinkKind
	to        *span  // nil if that span was not collected
}

// attributes have values of type string, bool, int64 and float64.
type attributes map[string]any

func (a attributes) text(key string) string  { s, _ := a[key].(string); return s }
func (a attributes) number(key string) int64 { n, _ := a[key].(int64); return n }

func (a attributes) seconds(key string) time.Duration {
	s, _ := a[key].(float64)
	return time.Duration(s * float64(time.Second))
}

func (s *span) took() time.Duration { return s.end.Sub(s.start) }

// isAcquire and isHold recognize the spans of locks by their attributes.
func (s *span) isAcquire() bool { return s.attributes.text(semconv.LockOutcome) != "" }
func (s *span) isHold() bool    { return s.attributes.text(semconv.LockEnd) != "" }

// waited reports whether an acquire had other contenders ahead of it.
func (s *span) waited() bool { return s.isAcquire() && s.attributes.number(semconv.LockPosition) > 0 }

// behind returns the contender that an acquire waited for. This is its
// predecessor, which the first event "watching" names.
func (s *span) behind() string {
	for _, e := range s.events {
		if e.name == semconv.EventWatching {
			if p := e.attributes.text(semconv.LockPred); p != "" {
				return p
			}
		}
	}
	return s.attributes.text(semconv.LockHolder)
}

// walk calls f for a span and for all spans below it, from top to bottom.
func (s *span) walk(depth int, f func(s *span, depth int)) {
	f(s, depth)
	for _, c := range s.children {
		c.walk(depth+1, f)
	}
}

// tracesOf returns the roots of all traces, sorted by start.
func tracesOf(collected []*tracepb.ResourceSpans) []*span {
	byID := map[string]*span{}
	var all []*span
	for _, resource := range collected {
		service := attributesOf(resource.GetResource().GetAttributes()).text("service.name")
		for _, scope := range resource.ScopeSpans {
			for _, p := range scope.Spans {
				s := spanOf(service, p)
				byID[s.trace+s.id] = s
				all = append(all, s)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *span) int {
		return cmp.Or(a.start.Compare(b.start), b.end.Compare(a.end), cmp.Compare(a.name, b.name))
	})
	var roots []*span
	for _, s := range all {
		if parent := byID[s.trace+s.parent]; parent != nil {
			parent.children = append(parent.children, s)
		} else {
			roots = append(roots, s)
		}
		for i := range s.links {
			s.links[i].to = byID[s.links[i].trace+s.links[i].id]
		}
	}
	return roots
}

func spanOf(service string, p *tracepb.Span) *span {
	s := &span{
		service:    service,
		name:       p.Name,
		trace:      hex.EncodeToString(p.TraceId),
		id:         hex.EncodeToString(p.SpanId),
		parent:     hex.EncodeToString(p.ParentSpanId),
		start:      timeOf(p.StartTimeUnixNano),
		end:        timeOf(p.EndTimeUnixNano),
		attributes: attributesOf(p.Attributes),
	}
	if p.GetStatus().GetCode() == tracepb.Status_STATUS_CODE_ERROR {
		s.problem = cmp.Or(p.Status.Message, "unknown")
	}
	for _, e := range p.Events {
		s.events = append(s.events, event{timeOf(e.TimeUnixNano), e.Name, attributesOf(e.Attributes)})
	}
	for _, l := range p.Links {
		s.links = append(s.links, link{
			trace: hex.EncodeToString(l.TraceId), id: hex.EncodeToString(l.SpanId),
			kind: attributesOf(l.Attributes).text(semconv.LinkKind),
		})
	}
	return s
}

func timeOf(nanoseconds uint64) time.Time { return time.Unix(0, int64(nanoseconds)) }

func attributesOf(pairs []*commonpb.KeyValue) attributes {
	a := attributes{}
	for _, pair := range pairs {
		switch v := pair.GetValue().GetValue().(type) {
		case *commonpb.AnyValue_StringValue:
			a[pair.Key] = v.StringValue
		case *commonpb.AnyValue_BoolValue:
			a[pair.Key] = v.BoolValue
		case *commonpb.AnyValue_IntValue:
			a[pair.Key] = v.IntValue
		case *commonpb.AnyValue_DoubleValue:
			a[pair.Key] = v.DoubleValue
		}
	}
	return a
}
