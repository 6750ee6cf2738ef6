package zktest

import (
	"sync"
	"sync/atomic"
	"time"
)

// maxQueued bounds the bytes that wait for a client that does not read. It is far larger
// than any legitimate answer. The server closes a connection that exceeds it.
const maxQueued = 64 << 20

// maxQueuedByAll is maxQueued for all clients of a server together. The client whose
// answer exceeds it loses its connection.
const maxQueuedByAll = 256 << 20

// outFrame is a frame on its way to a client. A fault may delay the frame. Later frames of
// the connection then wait, too, because a connection keeps the order.
type outFrame struct {
	bytes     []byte
	notBefore time.Time       // zero if the frame may be sent at once
	gate      <-chan struct{} // nil, or closed when the frame may be sent
	arrival   <-chan struct{} // nil, or closed when the scheduler releases the frame
}

func (f *outFrame) held() bool { return f.gate != nil || f.arrival != nil || !f.notBefore.IsZero() }

// wait returns true when the frame may be sent, or false if done is closed first.
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

// outbox is the queue between the server and the goroutine that writes to one connection.
// The server must never wait for a client.
type outbox struct {
	wake     chan struct{} // capacity 1: the following fields have changed
	overflow func()        // called when the client has fallen too far behind
	byAll    *atomic.Int64 // bytes in the outboxes of all connections of the server

	mu       sync.Mutex
	queue    []*outFrame
	size     int  // bytes in queue
	sealed   bool // the outbox takes no more frames
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
	if full { // the connection ends later, and other connections need the room now
		o.dropLocked()
	}
	o.mu.Unlock()
	if full {
		o.overflow()
	}
	o.signal()
}

// seal makes the outbox send the queued frames, and ignore later frames.
func (o *outbox) seal() {
	o.mu.Lock()
	o.sealed = true
	o.mu.Unlock()
}

// drop seals the outbox, and forgets the queued frames.
func (o *outbox) drop() {
	o.mu.Lock()
	o.dropLocked()
	o.mu.Unlock()
}

func (o *outbox) dropLocked() {
	o.byAll.Add(int64(-o.size))
	o.sealed, o.size, o.queue = true, 0, nil
}

// finish seals the outbox, and makes the writer end the connection after the last frame.
func (o *outbox) finish() {
	o.mu.Lock()
	o.sealed, o.finished = true, true
	o.mu.Unlock()
	o.signal()
}

func (o *outbox) signal() {
	select {
	case o.wake <- struct{}{}:
	default: // the writer has not received the previous signal yet
	}
}

// head returns the frame to send next, which stays in the queue. It returns nil if the
// queue is empty, and finished then reports whether there will be no more frames.
func (o *outbox) head() (f *outFrame, finished bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.queue) == 0 {
		return nil, o.finished
	}
	return o.queue[0], false
}

// take removes the frame that head has returned. It returns false if the frame was dropped
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
