package flight

import (
	"slices"
	"sync"
	"time"
)

// keptEnds is how many of the Sources that an error has ended are kept.
const keptEnds = 16

// Sources can be asked how they do: all that is of one kind, such as all caches.
// The nil Sources do nothing.
type Sources[T any] struct {
	endOf func(*T) *End

	mu     *sync.Mutex // the Recorder's; protects the following fields, and each source
	live   map[*source[T]]struct{}
	newest map[string]*source[T] // the newest live one of each path

	// ended are the last ones that an error has ended, the oldest end first.
	// There is one of each path.
	ended []ended[T]
}

// source is something that can be asked how it does.
type source[T any] struct {
	path string
	ask  func() T
}

// ended is what a source said when it ended. It does not refer to the source.
type ended[T any] struct {
	path string
	last T
}

func newSources[T any](r *Recorder, endOf func(*T) *End) *Sources[T] {
	return &Sources[T]{mu: &r.mu, endOf: endOf, live: map[*source[T]]struct{}{}, newest: map[string]*source[T]{}}
}

// Add has something shown until the returned function is called with the error
// that has ended it. If that is not nil, it is asked once more, and the answer is
// kept: until another one of the path is added, the client is closed, or others
// have ended since. The argument now is called without a lock of the recorder.
func (s *Sources[T]) Add(path string, now func() T) (end func(err error)) {
	if s == nil {
		return func(error) {}
	}
	added := &source[T]{path, now}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live[added], s.newest[path] = struct{}{}, added
	s.forgetLocked(path)
	return func(err error) { s.end(added, err) }
}

// Describe has the newest one of a path say more. The argument more is called as
// that of Add is.
func (s *Sources[T]) Describe(path string, more func(*T)) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if of := s.newest[path]; of != nil {
		bare := of.ask
		of.ask = func() T {
			all := bare()
			more(&all)
			return all
		}
	}
}

func (s *Sources[T]) end(of *source[T], err error) {
	var e ended[T]
	if err != nil {
		s.mu.Lock()
		ask := of.ask
		s.mu.Unlock()
		e = ended[T]{of.path, ask()}
		*s.endOf(&e.last) = End{time.Now(), err}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, live := s.live[of]; !live {
		return
	}
	delete(s.live, of)
	newest := s.newest[of.path]
	if newest == of {
		delete(s.newest, of.path)
	}
	if err != nil && (newest == of || newest == nil) { // otherwise it has a successor
		s.keepLocked(e)
	}
}

func (s *Sources[T]) keepLocked(e ended[T]) {
	s.forgetLocked(e.path)
	if len(s.ended) == keptEnds {
		s.ended = slices.Delete(s.ended, 0, 1)
	}
	s.ended = append(s.ended, e)
}

func (s *Sources[T]) forgetLocked(path string) {
	s.ended = slices.DeleteFunc(s.ended, func(e ended[T]) bool { return e.path == path })
}

// All asks all how they do. Those that have ended with an error are first, the
// oldest end before the others. The rest has no order.
func (s *Sources[T]) All() []T {
	s.mu.Lock()
	all := make([]T, 0, len(s.ended)+len(s.live))
	for _, e := range s.ended {
		all = append(all, e.last)
	}
	live := make([]func() T, 0, len(s.live))
	for of := range s.live {
		live = append(live, of.ask)
	}
	s.mu.Unlock()
	for _, ask := range live {
		all = append(all, ask())
	}
	return all
}
