package zktest

import (
	"sync"
	"time"
)

// maxQueued bounds what may wait for a client that does not read, in bytes. It is
// far above any legitimate answer; beyond it the connection is closed.
const maxQueued = 64 << 20

// outFrame is a frame on its way to a client, possibly held back by a fault.
// Frames behind it wait too: a connection never changes the order.
type outFrame struct {
	bytes     []byte
	notBefore time.Time       // zero: at once
	gate      <-chan struct{} // nil, or closed when the frame may go
	event     bool            // a watch event
	aside     bool            // an answer that lets an event go first
}

func (f *outFrame) held() bool { return f.gate != nil || !f.notBefore.IsZero() }

// wait returns when the frame may go; false means that done was closed first.
func (f *outFrame) wait(clock timeSource, done <-chan struct{}) bool {
	if f.gate != nil {
		select {
		case <-f.gate:
		case <-done:
			return false
		}
	}
	if f.notBefore.IsZero() {
		return true
	}
	return pause(clock, f.notBefore.Sub(clock.Now()), done)
}

// outbox is the queue between the server, which must never wait for a client,
// and the goroutine that writes to one connection.
type outbox struct {
	wake     chan struct{} // capacity 1: there is something new below
	overflow func()        // called when the client has fallen too far behind
	rest     *rest         // told when there is nothing left to write

	mu       sync.Mutex
	queue    []*outFrame
	size     int  // bytes in queue
	sealed   bool // nothing more is taken
	finished bool // the connection ends when queue is empty
	resting  bool // everything has been written and flushed

	aside   *outFrame   // an answer that waits for the next frame
	holding bool        // events go to held instead of queue
	held    []*outFrame // events that wait for an answer
}

func newOutbox(overflow func(), rest *rest) *outbox {
	return &outbox{wake: make(chan struct{}, 1), overflow: overflow, rest: rest}
}

// push queues a frame. It never blocks.
func (o *outbox) push(f outFrame) {
	o.mu.Lock()
	if o.sealed {
		o.mu.Unlock()
		return
	}
	o.enqueue(&f)
	o.resting = false
	o.size += len(f.bytes)
	full := o.size > maxQueued
	o.sealed = full
	o.mu.Unlock()
	if full {
		o.overflow()
	}
	o.signal()
}

// enqueue finds the frame's place.
func (o *outbox) enqueue(f *outFrame) {
	switch {
	case f.event && o.holding:
		o.held = append(o.held, f)
	case f.event:
		o.queue = append(o.queue, f)
		o.endAside()
	default: // answers never change their order
		o.endAside()
		if f.aside {
			o.aside = f
		} else {
			o.queue = append(o.queue, f)
		}
	}
}

// endAside queues the answer that waits, if there is one.
func (o *outbox) endAside() {
	if o.aside != nil {
		o.queue = append(o.queue, o.aside)
		o.aside = nil
	}
}

// holdEvents keeps the events back that are pushed from now on.
func (o *outbox) holdEvents() {
	o.mu.Lock()
	o.holding = true
	o.mu.Unlock()
}

// releaseEvents sends the events that were kept back.
func (o *outbox) releaseEvents() {
	o.mu.Lock()
	o.holding = false
	o.queue = append(o.queue, o.held...)
	o.resting = o.resting && len(o.held) == 0
	o.held = nil
	o.mu.Unlock()
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
	o.sealed, o.queue, o.size = true, nil, 0
	o.aside, o.held = nil, nil
	o.mu.Unlock()
}

// finish is seal, and makes the writer end the connection afterwards.
func (o *outbox) finish() {
	o.mu.Lock()
	o.endAside()
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

// take removes f, which head returned. It reports false if f was dropped meanwhile.
func (o *outbox) take(f *outFrame) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.queue) == 0 || o.queue[0] != f {
		return false
	}
	o.queue[0] = nil
	o.queue = o.queue[1:]
	o.size -= len(f.bytes)
	return true
}
