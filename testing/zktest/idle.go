package zktest

import (
	"sync"
	"sync/atomic"
)

// idleNotifier lets somebody wait until connections have come to rest. Its lock
// is the last one in the order of locks: whoever takes it may hold the locks of
// streams and outboxes.
type idleNotifier struct {
	waiting atomic.Int32 // how many wait; mostly none, and then notify costs one load

	mu      sync.Mutex
	changed chan struct{}
}

// notify is called when something has come to rest.
func (r *idleNotifier) notify() {
	if r == nil || r.waiting.Load() == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.changed != nil {
		close(r.changed)
		r.changed = nil
	}
}

func (r *idleNotifier) next() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.changed == nil {
		r.changed = make(chan struct{})
	}
	return r.changed
}
