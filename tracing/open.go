package tracing

import (
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/state"
)

// openSpan is an acquire or a hold that has not ended.
type openSpan struct {
	trace.Span
	client *framework.Client // the view that New returned
	since  time.Time         // changes before are not about it
	hold   *hold             // nil for an acquire
	lost   bool              // a hold whose session is over: what follows is not about it

	prev, next *openSpan // in a list; protected by the Tracer
}

// openSpans is a list. That costs an acquire less than a map.
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
	s.prev, s.next = nil, nil // or whoever keeps s would keep them, too
}

// all is an iterator.
func (l *openSpans) each(yield func(*openSpan) bool) {
	for s := l.first; s != nil && yield(s); s = s.next {
	}
}

// openOf returns the list of what is like s.
func (t *Tracer) listFor(s *openSpan) *openSpans {
	if s.hold != nil {
		return &t.holds
	}
	return &t.acquires
}

func (t *Tracer) track(s *openSpan) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.listFor(s).add(s)
}

// closed is called once for each that was opened.
func (t *Tracer) untrack(s *openSpan) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.listFor(s).remove(s)
}

// spansOf returns those of a client that a change of its state is about.
func (t *Tracer) spansAffectedBy(change framework.StateChange) []trace.Span {
	t.mu.Lock()
	defer t.mu.Unlock()
	var spans []trace.Span
	for _, list := range []*openSpans{&t.acquires, &t.holds} {
		for s := range list.each {
			if s.client != change.Client || change.Time.Before(s.since) {
				continue
			}
			if s.hold != nil && change.State == state.Lost {
				s.lost = true // its own end says why, and may come a moment later
			}
			if s.IsRecording() && !s.lost {
				spans = append(spans, s.Span)
			}
		}
	}
	return spans
}

func (t *Tracer) holdsOfClient(c *framework.Client) []*hold {
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

// holdOf returns a hold of this process that fits, or nil.
func (t *Tracer) findHold(fits func(*hold) bool) *hold {
	t.mu.Lock()
	defer t.mu.Unlock()
	for s := range t.holds.each {
		if fits(s.hold) {
			return s.hold
		}
	}
	return nil
}
