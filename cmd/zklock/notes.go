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
	// maxUnread is how many bytes of notes wait for somebody who reads them.
	maxUnread = 1 << 16

	// lastWords is how long the end of the program waits for the notes to be
	// written.
	lastWords = time.Second
)

// notes is standard error as the program writes to it: a queue, because a pipe
// or a terminal may be one that nobody reads, and a write to it can take for
// ever. Write never waits. What does not fit into the queue is dropped, and a
// line says afterwards how many notes that were. A note is what was written by one
// call.
//
// One goroutine writes to the file. It ends with finish, or with the program if
// nobody reads.
type notes struct {
	to    io.Writer
	ended chan struct{}

	mu       sync.Mutex // protects the following fields
	changed  sync.Cond
	queue    []note
	size     int // the bytes in the queue
	dropped  int // dropped notes that no line has told of yet
	finished bool
}

// note is a text, or a place in the queue that somebody waits for.
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

// tellDropped adds a line in the place of what was dropped. n.mu is held.
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
			_, _ = n.to.Write(next.text) // there is nobody to tell of an error
		}
	}
}

// next waits for the head of the queue, and takes it. It reports false if there
// will be no more.
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

// settle waits until all that was written before is in the file, but not for
// long: nobody may read it.
func (n *notes) settle(limit time.Duration) {
	reached := make(chan struct{})
	n.mu.Lock()
	n.add(note{reached: reached})
	n.mu.Unlock()
	waitFor(reached, limit)
}

// finish writes the last text, if there is one, and ends the goroutine when all
// is written. It gives up after lastWords. The last text is not dropped.
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

// settle waits until what was written to stderr before is there, but no longer
// than limit.
func (e *env) settle(limit time.Duration) {
	if n, ok := e.err.(*notes); ok {
		n.settle(limit)
	}
}

// fileOf returns the file that a stream of the program writes to or reads from,
// or nil if it is none.
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
