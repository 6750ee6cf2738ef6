package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

const (
	// maxUnread is the size of the queue of notes, in bytes.
	maxUnread = 1 << 16

	// lastWords is how long the program waits at its end until the notes are written.
	lastWords = time.Second
)

// notes is a queue in front of standard error, because a write to a full pipe or a
// stopped terminal can block for ever. Write never blocks. If a note does not fit into
// the queue, notes drops it, and a later line reports the number of dropped notes. A
// note is the text of one call.
//
// One goroutine writes to the file. It ends with finish, or with the program if the
// file blocks.
type notes struct {
	to    io.Writer
	ended chan struct{}

	mu       sync.Mutex // protects the following fields
	changed  sync.Cond
	queue    []note
	size     int // the bytes in the queue
	dropped  int // dropped notes that no line has reported yet
	finished bool
}

// note is a text, or a mark in the queue for a waiting call.
type note struct {
	text    []byte
	reached chan struct{}
}

func newNotes(to io.Writer) *notes {
	n := &notes{to: to, ended: make(chan struct{})}
	n.changed.L = &n.mu
	go n.deliver()
	return n
}

// Write implements io.Writer. It always succeeds, and keeps nothing of p.
func (n *notes) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.size > 0 && n.size+len(p) > maxUnread {
		n.dropped++
		return len(p), nil
	}
	n.tellDropped()
	n.add(note{text: bytes.Clone(p)})
	return len(p), nil
}

// tellDropped adds a line in place of dropped notes. n.mu is held.
func (n *notes) tellDropped() {
	if n.dropped > 0 {
		n.add(note{text: fmt.Appendf(nil, "zklock: nobody has read this in time: notes dropped: %d\n", n.dropped)})
		n.dropped = 0
	}
}

// add adds to the queue. n.mu is held.
func (n *notes) add(next note) {
	n.queue = append(n.queue, next)
	n.size += len(next.text)
	n.changed.Signal()
}

// deliver is the life of the goroutine.
func (n *notes) deliver() {
	defer close(n.ended)
	writeFromBackground()
	for {
		next, ok := n.next()
		switch {
		case !ok:
			return
		case next.reached != nil:
			close(next.reached)
		default:
			_, _ = n.to.Write(next.text) // an error cannot be reported
		}
	}
}

// next waits for the head of the queue, and removes it. It returns false after the last
// note.
func (n *notes) next() (head note, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for len(n.queue) == 0 && !n.finished {
		if n.tellDropped(); len(n.queue) == 0 {
			n.changed.Wait()
		}
	}
	if len(n.queue) == 0 {
		return note{}, false
	}
	head, n.queue = n.queue[0], n.queue[1:]
	n.size -= len(head.text)
	return head, true
}

// settle waits until all earlier notes are in the file, for at most limit, because the
// file may block.
func (n *notes) settle(limit time.Duration) {
	reached := make(chan struct{})
	n.mu.Lock()
	n.add(note{reached: reached})
	n.mu.Unlock()
	waitFor(reached, limit)
}

// finish writes the last text, if any, and ends the goroutine when all notes are
// written. It gives up after lastWords. The last text is never dropped.
func (n *notes) finish(last string) {
	n.mu.Lock()
	n.tellDropped()
	if last != "" {
		n.add(note{text: []byte(last)})
	}
	n.finished = true
	n.changed.Signal()
	n.mu.Unlock()
	waitFor(n.ended, lastWords)
}

func waitFor(done <-chan struct{}, limit time.Duration) {
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case <-done:
	case <-late.C:
	}
}

// settle waits until earlier writes to stderr are done, for at most limit.
func (e *env) settle(limit time.Duration) {
	if n, ok := e.err.(*notes); ok {
		n.settle(limit)
	}
}

// fileOf returns the file behind a stream of the program, or nil if there is none.
func fileOf(stream any) *os.File {
	switch s := stream.(type) {
	case *notes:
		return fileOf(s.to)
	case stoppable:
		return fileOf(s.to)
	case entire:
		return s.file
	case *os.File:
		return s
	}
	return nil
}
