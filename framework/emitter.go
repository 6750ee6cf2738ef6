package framework

import (
	"sync"
	"time"
)

// emitter makes the calls of hooks and of the log handler that no caller is there to
// make, in the order in which they were posted: state changes, lost locks, changes of
// persistent nodes and caches, and the log of background work. Its goroutine exists
// only while there is something to call. The package documentation has the rule for the
// user's code.
type emitter struct {
	mu    sync.Mutex    // protects the following fields
	calls []func()      // what to call next
	idle  chan struct{} // closed when the last call has returned; nil while there is no goroutine
}

// post queues a call. It waits for nothing, and may be called with a mutex held.
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

// await waits until the last call has returned, but no longer than a time.
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
