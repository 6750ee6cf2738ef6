package tracing

import (
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/state"
)

// openSpan is a span that has not ended: an acquire's, a hold's or a persistent
// node's. Tracer.mu protects the field lost.
type openSpan struct {
	trace.Span
	client clienttrace.Client
	since  time.Time // only later changes concern the span
	hold   *hold     // nil for others
	lost   bool      // the session is over; no change concerns it

	prev, next *openSpan // links of the list; protected by Tracer.mu
}

// openSpans is a doubly linked list. Per acquire it costs less than a map.
type openSpans struct{ first *openSpan }

func (l *openSpans) add(s *openSpan) {
	s.next = l.first
	if s.next != nil {
		s.next.prev = s
	}
	l.first = s
}

func (l *openSpans) remove(s *openSpan) {
	if s.prev != nil {
		s.prev.next = s.next
	} else {
		l.first = s.next
	}
	if s.next != nil {
		s.next.prev = s.prev
	}
	// A span that is kept must not keep its neighbours.
	s.prev, s.next = nil, nil
}

// each is an iterator over the list.
func (l *openSpans) each(yield func(*openSpan) bool) {
	for s := l.first; s != nil && yield(s); s = s.next {
	}
}

// listFor returns the list that s belongs to.
func (t *tracer) listFor(s *openSpan) *openSpans {
	if s.hold != nil {
		return &t.holds
	}
	return &t.acquires
}

func (t *tracer) track(s *openSpan) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.listFor(s).add(s)
}

// untrack is called once for each span that was tracked.
func (t *tracer) untrack(s *openSpan) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.listFor(s).remove(s)
}

// spansAffectedBy returns the client's spans that a change of its state
// concerns.
func (t *tracer) spansAffectedBy(change clienttrace.StateChange) []trace.Span {
	t.mu.Lock()
	defer t.mu.Unlock()
	var spans []trace.Span
	for _, list := range []*openSpans{&t.acquires, &t.holds} {
		for s := range list.each {
			if s.isConcernedBy(change, s.hold != nil) {
				spans = append(spans, s.Span)
			}
		}
	}
	for n := range t.nodes {
		if n.open != nil && n.open.isConcernedBy(change, n.registered) {
			spans = append(spans, n.open.Span)
		}
	}
	return spans
}

// isConcernedBy reports whether a change concerns a span, and notes the loss of
// the session if that ends what the span is about: the end says why, and may
// come a moment later.
func (s *openSpan) isConcernedBy(change clienttrace.StateChange, endsWithSession bool) bool {
	if s.client != change.Client || !change.Time.After(s.since) {
		return false
	}
	if endsWithSession && change.State == state.Lost {
		s.lost = true
	}
	return s.IsRecording() && !s.lost
}

func (t *tracer) holdsOfClient(c clienttrace.Client) []*hold {
	t.mu.Lock()
	defer t.mu.Unlock()
	var its []*hold
	for s := range t.holds.each {
		if s.client == c {
			its = append(its, s.hold)
		}
	}
	return its
}

// findHold returns a hold of this process for which fits is true, or nil.
func (t *tracer) findHold(fits func(*hold) bool) *hold {
	t.mu.Lock()
	defer t.mu.Unlock()
	for s := range t.holds.each {
		if fits(s.hold) {
			return s.hold
		}
	}
	return nil
}
