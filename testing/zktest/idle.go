package zktest

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/gocurator/curator/testing/zktest/internal/memnet"
)

// idleNotifier lets somebody wait until connections have come to rest. It is a
// lock of the lowest order: it is used with those of streams and outboxes held.
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

// WaitIdle waits until nothing is under way: every request has been carried out
// and answered, everything that was to be sent has been sent, and clients in
// the same process have read it all and wait for more. The server does not know
// what clients are about to send, nor over TCP what is on its way. Dead
// connections do not count. It ends as [Server.WaitFor] does. In a bubble,
// synctest.Wait says more.
func (s *Server) WaitIdle(ctx context.Context) error { return s.waitIdle(ctx, &s.closed, s) }

// WaitIdle is [Server.WaitIdle] for all members. A member that has something to
// apply is not idle.
func (e *Ensemble) WaitIdle(ctx context.Context) error {
	return e.waitIdle(ctx, &e.closing, e.servers()...)
}

func (c *cluster) waitIdle(ctx context.Context, closed *bool, servers ...*Server) error {
	c.idle.waiting.Add(1)
	defer c.idle.waiting.Add(-1)
	for {
		rested := c.idle.next()
		c.mu.Lock()
		changed, over, idle := c.nextChangeLocked(), *closed, true
		for _, s := range servers {
			idle = idle && s.idleLocked()
		}
		c.mu.Unlock()
		switch {
		case idle:
			return nil
		case over:
			return ErrClosed
		}
		select {
		case <-rested:
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// idleLocked reports whether nothing is under way.
func (s *Server) idleLocked() bool {
	if s.member != nil && s.member.received > 0 {
		return false
	}
	for c := range s.conns {
		if !c.halfOpenLocked() && !c.idle() {
			return false
		}
	}
	return true
}

func (c *conn) idle() bool {
	if !c.out.idle() {
		return false
	}
	if p, inMemory := c.nc.(*memnet.Conn); inMemory {
		return p.Idle()
	}
	return c.reading.Load()
}

// idle reports whether everything has been written and flushed.
func (o *outbox) idle() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.resting && len(o.queue) == 0
}
