package zktest

import (
	"sync"
	"sync/atomic"
	"time"
)

// maxQueued bounds what may wait for a client that does not read, in bytes. It
// is far above any legitimate answer; beyond it the connection is closed.
const maxQueued = 64 << 20

// maxQueuedByAll bounds the same for all clients of a server together. The
// client that asks for more beyond it is the one to lose its connection.
const maxQueuedByAll = 256 << 20

// outFrame is a frame on its way to a client, possibly held back by a fault.
// Frames behind it wait too: a connection never changes the order.
type outFrame struct {
	bytes     []byte
	notBefore time.Time       // zero: at once
	gate      <-chan struct{} // nil, or closed when the frame may go
	arrival   <-chan struct{} // nil, or closed when the scheduler lets it go
}

func (f *outFrame) held() bool { return f.gate != nil || f.arrival != nil || !f.notBefore.IsZero() }

// wait returns when the frame may go; false means that done was closed first.
func (f *outFrame) wait(done <-chan struct{}) bool {
	for _, opened := range []<-chan struct{}{f.gate, f.arrival} {
		if opened == nil {
			continue
		}
		select {
		case <-opened:
		case <-done:
			return false
		}
	}
	if f.notBefore.IsZero() {
		return true
	}
	return sleep(time.Until(f.notBefore), done)
}

// outbox is the queue between the server, which must never wait for a client,
// and the goroutine that writes to one connection.
type outbox struct {
	wake     chan struct{} // capacity 1: there is something new below
	overflow func()        // called when the client has fallen too far behind
	byAll    *atomic.Int64 // bytes in the outboxes of all connections of the server

	mu       sync.Mutex
	queue    []*outFrame
	size     int  // bytes in queue
	sealed   bool // nothing more is taken
	finished bool // the connection ends when queue is empty
}

func newOutbox(overflow func(), byAll *atomic.Int64) *outbox {
	return &outbox{wake: make(chan struct{}, 1), overflow: overflow, byAll: byAll}
}

// push queues a frame. It never blocks.
func (o *outbox) push(f outFrame) {
	o.mu.Lock()
	if o.sealed {
		o.mu.Unlock()
		return
	}
	o.queue = append(o.queue, &f)
	o.size += len(f.bytes)
	full := o.byAll.Add(int64(len(f.bytes))) > maxQueuedByAll || o.size > maxQueued
	if full { // the connection ends later, and others need the room now
		o.dropLocked()
	}
	o.mu.Unlock()
	if full {
		o.overflow()
	}
	o.signal()
}

// seal lets what is queued go out and ignores everything after it.
func (o *outbox) seal() {
	o.mu.Lock()
	o.sealed = true
	o.mu.Unlock()
}

// drop is seal, and forgets what is queued.
func (o *outbox) drop() {
	o.mu.Lock()
	o.dropLocked()
	o.mu.Unlock()
}

func (o *outbox) dropLocked() {
	o.byAll.Add(int64(-o.size))
	o.sealed, o.size, o.queue = true, 0, nil
}

// finish is seal, and makes the writer end the connection afterwards.
func (o *outbox) finish() {
	o.mu.Lock()
	o.sealed, o.finished = true, true
	o.mu.Unlock()
	o.signal()
}

func (o *outbox) signal() {
	select {
	case o.wake <- struct{}{}:
	default: // the writer has not taken the last signal yet and will see this too
	}
}

// head returns the frame to send next without taking it, or nil; then finished
// says whether there will never be another one.
func (o *outbox) head() (f *outFrame, finished bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.queue) == 0 {
		return nil, o.finished
	}
	return o.queue[0], false
}

// take removes f, which head returned. It reports false if f was dropped
// meanwhile.
func (o *outbox) take(f *outFrame) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.queue) == 0 || o.queue[0] != f {
		return false
	}
	o.queue[0] = nil
	o.queue = o.queue[1:]
	o.size -= len(f.bytes)
	o.byAll.Add(int64(-len(f.bytes)))
	return true
}
