package flight

import (
	"sync"
	"time"
)

// Recorder is the flight recorder of one client. The nil Recorder records
// nothing. It is safe for concurrent use.
type Recorder struct {
	stacks bool

	mu            sync.Mutex // protects the following fields, and those of every Record that say so
	events        uint64     // so far
	rare          ring
	frequent      ring
	records       Record // the head of a list in a circle
	linked        int    // how many are in the list
	registrations map[*source[Registration]]struct{}
	caches        map[*source[Cache]]struct{}
}

// New returns a recorder that keeps so many rare events, and as many frequent
// ones. It returns nil for none. The argument stacks says whether to keep where
// each acquire was called.
func New(events int, stacks bool) *Recorder {
	if events <= 0 {
		return nil
	}
	r := &Recorder{
		stacks: stacks,
		rare:   ring{size: events}, frequent: ring{size: events},
		registrations: map[*source[Registration]]struct{}{}, caches: map[*source[Cache]]struct{}{},
	}
	r.records.next, r.records.prev = &r.records, &r.records
	return r
}

// Registration is a node that is kept registered.
type Registration struct {
	Path    string // as it was asked for, with the chroot
	Node    string // the path of the node, if it is there
	Czxid   int64
	Changed time.Time // between registered and not, for the last time
	Err     error     // why it is not registered
}

// Cache is a cache as it does now.
type Cache struct {
	Root    string // with the chroot
	Synced  bool
	Nodes   int
	ToRead  int
	Zxid    int64
	Lag     time.Duration
	Behind  int64
	Resyncs int64
	Err     error // why it has ended
}

// source is something that can be asked how it does.
type source[T any] struct{ ask func() T }

// AddRegistration has a registration shown until the returned function is
// called. The argument now is called without a lock.
func (r *Recorder) AddRegistration(now func() Registration) (remove func()) {
	if r == nil {
		return func() {}
	}
	return addSource(r, r.registrations, now)
}

// AddCache has a cache shown until the returned function is called. The
// argument now is called without a lock.
func (r *Recorder) AddCache(now func() Cache) (remove func()) {
	if r == nil {
		return func() {}
	}
	return addSource(r, r.caches, now)
}

func addSource[T any](r *Recorder, to map[*source[T]]struct{}, ask func() T) (remove func()) {
	s := &source[T]{ask}
	r.mu.Lock()
	defer r.mu.Unlock()
	to[s] = struct{}{}
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(to, s)
	}
}

// Registrations asks all registrations how they do, in no order.
func (r *Recorder) Registrations() []Registration {
	if r == nil {
		return nil
	}
	return askAll(r, r.registrations)
}

// Caches asks all caches how they do, in no order.
func (r *Recorder) Caches() []Cache {
	if r == nil {
		return nil
	}
	return askAll(r, r.caches)
}

func askAll[T any](r *Recorder, of map[*source[T]]struct{}) []T {
	r.mu.Lock()
	sources := make([]*source[T], 0, len(of))
	for s := range of {
		sources = append(sources, s)
	}
	r.mu.Unlock()
	all := make([]T, len(sources))
	for i, s := range sources {
		all[i] = s.ask()
	}
	return all
}
