package zktest

import (
	"slices"
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
	notifier *idleNotifier // told when there is nothing left to write
	byAll    *atomic.Int64 // bytes in the outboxes of all connections of the server

	mu       sync.Mutex
	queue    []*outFrame
	size     int  // bytes in queue
	sealed   bool // nothing more is taken
	dropped  bool // what was queued is lost
	finished bool // the connection ends when queue is empty
	resting  bool // everything has been written and flushed

	// At most one of them is true: the writer has taken frames that it has not
	// flushed yet, or the reader is in writeReady.
	delivering, shortcut bool
}

func newOutbox(overflow func(), rest *idleNotifier, byAll *atomic.Int64) *outbox {
	return &outbox{wake: make(chan struct{}, 1), overflow: overflow, notifier: rest, byAll: byAll}
}

// push queues a frame. It never blocks.
func (o *outbox) push(f outFrame) {
	o.queueFrame(f)
	o.signal()
}

// queueFrame is push without waking the writer: the caller does that, or writes
// himself.
func (o *outbox) queueFrame(f outFrame) {
	o.mu.Lock()
	if o.sealed {
		o.mu.Unlock()
		return
	}
	o.queue = append(o.queue, &f)
	o.resting = false
	o.size += len(f.bytes)
	full := o.byAll.Add(int64(len(f.bytes))) > maxQueuedByAll || o.size > maxQueued
	if full { // the connection ends later, and others need the room now
		o.dropLocked()
	}
	o.mu.Unlock()
	if full {
		o.overflow()
	}
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
	o.sealed, o.dropped, o.size = true, true, 0
	o.queue = nil
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
	switch {
	case o.shortcut: // writeReady signals if it leaves anything
		return nil, false
	case len(o.queue) == 0:
		return nil, o.finished
	}
	return o.queue[0], false
}

// flushed tells that the writer has sent all that it took.
func (o *outbox) flushed() {
	o.mu.Lock()
	o.delivering = false
	o.resting = len(o.queue) == 0 && !o.shortcut
	o.mu.Unlock()
	o.notifier.notify()
}

// take removes f, which head returned. It reports false if f was dropped
// meanwhile.
func (o *outbox) take(f *outFrame) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.queue) == 0 || o.queue[0] != f {
		return false
	}
	o.delivering = true
	o.queue[0] = nil
	o.queue = o.queue[1:]
	o.size -= len(f.bytes)
	o.byAll.Add(int64(-len(f.bytes)))
	return true
}

// writeReady sends what need not wait, if the writer has nothing to do and the
// connection takes it at once. It is the short way for the goroutine that has
// just answered a request: over TCP, waking the other one costs more than the
// request. The rest is left to the writer. write must not wait. Functions that
// wait for the connection to become idle hear of it when that goroutine reads
// on.
func (o *outbox) writeReady(write func([]byte) int) {
	frames, some := o.takeReady()
	if !some || o.endShortcut(frames, write(frames)) {
		o.signal()
	}
}

// takeReady takes the first frames, up to one that is held. They count as
// queued until writeReady has seen what becomes of them.
func (o *outbox) takeReady() (frames []byte, some bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := slices.IndexFunc(o.queue, (*outFrame).held)
	if n < 0 {
		n = len(o.queue)
	}
	if n == 0 || o.delivering || o.sealed && !o.finished {
		return nil, false
	}
	frames = o.queue[0].bytes
	if n > 1 {
		frames = nil // make a copy, because the first frame may be shared
		for _, f := range o.queue[:n] {
			frames = append(frames, f.bytes...)
		}
	}
	o.queue = slices.Delete(o.queue, 0, n)
	o.shortcut = true
	return frames, true
}

// endShortcut puts back what is left of the frames after n bytes, and reports
// whether there is something to do for the writer.
func (o *outbox) endShortcut(frames []byte, n int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.shortcut = false
	if !o.dropped { // what was dropped does not count any more
		o.size -= n
		o.byAll.Add(int64(-n))
		if n < len(frames) {
			o.queue = slices.Insert(o.queue, 0, &outFrame{bytes: frames[n:]})
		}
	}
	o.resting = len(o.queue) == 0
	return !o.resting || o.finished
}

// idle reports whether everything has been written and flushed.
func (o *outbox) idle() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.resting && len(o.queue) == 0
}
