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

	before, after *openSpan // in a list; protected by the Tracer
}

// openSpans is a list. That costs an acquire less than a map.
type openSpans struct{ first *openSpan }

func (l *openSpans) add(s *openSpan) {
	s.after = l.first
	if s.after != nil {
		s.after.before = s
	}
	l.first = s
}

func (l *openSpans) remove(s *openSpan) {
	if s.before != nil {
		s.before.after = s.after
	} else {
		l.first = s.after
	}
	if s.after != nil {
		s.after.before = s.before
	}
	s.before, s.after = nil, nil // or whoever keeps s would keep them, too
}

// all is an iterator.
func (l *openSpans) all(yield func(*openSpan) bool) {
	for s := l.first; s != nil && yield(s); s = s.after {
	}
}

// openOf returns the list of what is like s.
func (t *Tracer) openOf(s *openSpan) *openSpans {
	if s.hold != nil {
		return &t.holds
	}
	return &t.acquires
}

func (t *Tracer) opened(s *openSpan) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.openOf(s).add(s)
}

// closed is called once for each that was opened.
func (t *Tracer) closed(s *openSpan) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.openOf(s).remove(s)
}

// spansOf returns those of a client that a change of its state is about.
func (t *Tracer) spansOf(change framework.StateChange) []trace.Span {
	t.mu.Lock()
	defer t.mu.Unlock()
	var concerned []trace.Span
	for _, list := range []*openSpans{&t.acquires, &t.holds} {
		for s := range list.all {
			if s.client != change.Client || change.Time.Before(s.since) {
				continue
			}
			if s.hold != nil && change.State == state.Lost {
				s.lost = true // its own end says why, and may come a moment later
			}
			if s.IsRecording() && !s.lost {
				concerned = append(concerned, s.Span)
			}
		}
	}
	return concerned
}

func (t *Tracer) holdsOf(c *framework.Client) []*hold {
	t.mu.Lock()
	defer t.mu.Unlock()
	var its []*hold
	for s := range t.holds.all {
		if s.client == c {
			its = append(its, s.hold)
		}
	}
	return its
}

// holdOf returns a hold of this process that fits, or nil.
func (t *Tracer) holdOf(fits func(*hold) bool) *hold {
	t.mu.Lock()
	defer t.mu.Unlock()
	for s := range t.holds.all {
		if fits(s.hold) {
			return s.hold
		}
	}
	return nil
}
