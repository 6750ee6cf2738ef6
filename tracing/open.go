package tracing

import (
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/state"
)

// openSpan is a span of an acquire, a hold or a persistent node that has not ended.
// Tracer.mu protects the field lost.
type openSpan struct {
	trace.Span
	client clienttrace.Client
	since  time.Time // earlier changes do not concern the span
	hold   *hold     // nil unless this is the span of a hold
	lost   bool      // the session is over, and no further change concerns the span

	prev, next *openSpan // links of the list; protected by Tracer.mu
}

// openSpans is a doubly linked list, which costs less per acquire than a map.
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
	// A removed span that is still referenced must not keep its neighbours in memory.
	s.prev, s.next = nil, nil
}

// each is an iterator over the list.
func (l *openSpans) each(yield func(*openSpan) bool) {
	for s := l.first; s != nil && yield(s); s = s.next {
	}
}

// listFor returns the list to which s belongs.
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

// untrack must be called once for each tracked span.
func (t *tracer) untrack(s *openSpan) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.listFor(s).remove(s)
}

// spansAffectedBy returns the client's spans that a change of the client's state
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

// isConcernedBy reports whether a change concerns a span. If the change ends the span's
// subject, isConcernedBy marks the span as lost: the report of the end has the cause, and
// may follow a moment later.
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

// findHold returns a hold of this process for which fits returns true, or nil.
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
