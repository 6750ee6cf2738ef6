package framework

import (
	"sync"
	"time"
)

// emitter calls hooks for events outside a caller's goroutine, in the order in which the
// calls were posted: state changes, lost locks, changes of persistent nodes and caches,
// and lines for the log, which is a hook. Its goroutine exists only while there are calls
// to make. The package documentation has the rule for the user's code.
type emitter struct {
	mu    sync.Mutex    // protects the following fields
	calls []func()      // what to call next
	idle  chan struct{} // closed when the last call has returned; nil while there is no goroutine
}

// post queues a call. It never blocks, and the caller may hold a mutex.
func (e *emitter) post(call func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.calls = append(e.calls, call)
	if e.idle == nil {
		e.idle = make(chan struct{})
		go e.run()
	}
}

func (e *emitter) run() {
	for calls := e.take(); calls != nil; calls = e.take() {
		for _, call := range calls {
			call()
		}
	}
}

// take returns the calls that were posted, or nil if the goroutine must end.
func (e *emitter) take() (calls []func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if calls, e.calls = e.calls, nil; calls == nil {
		close(e.idle)
		e.idle = nil
	}
	return calls
}

// await waits until the last call has returned, for at most the given time.
func (e *emitter) await(atMost time.Duration) {
	e.mu.Lock()
	idle := e.idle
	e.mu.Unlock()
	if idle == nil {
		return
	}
	timer := time.NewTimer(atMost)
	defer timer.Stop()
	select {
	case <-idle:
	case <-timer.C:
	}
}
