package main

import (
	"context"
	"sync/atomic"
	"time"
)

// lossGrace is the grace that begins with the loss of a lock, also while the
// command is being started. A command that has begun by then may run before
// zklock hears of it: it gets TERM, and what is left of the grace. One that has
// not begun by the end of the grace is canceled.
type lossGrace struct {
	whole time.Duration
	begin atomic.Pointer[time.Time]
	over  chan struct{} // closed at its end
}

// graceAfter returns the grace after the end of a lease.
func graceAfter(lease context.Context, whole time.Duration) *lossGrace {
	g := &lossGrace{whole: whole, over: make(chan struct{})}
	context.AfterFunc(lease, func() {
		now := time.Now()
		g.begin.Store(&now)
		time.AfterFunc(whole, func() { close(g.over) })
	})
	return g
}

// left returns how long the command has from now on if the lock is lost.
func (g *lossGrace) left() time.Duration {
	begin := g.begin.Load()
	if begin == nil {
		return g.whole
	}
	return max(0, g.whole-time.Since(*begin))
}
