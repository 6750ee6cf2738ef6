package framework_test

import (
	"context"
	"sync/atomic"
)

// broken is a context of the user's own making, which panics when it is asked for
// its error, or for its channel, for the nth time.
type broken struct {
	context.Context
	asked *atomic.Int32
	nth   int32
}

func newBroken(ctx context.Context, nth int32) broken { return broken{ctx, new(atomic.Int32), nth} }

func (c broken) ask() {
	if c.asked.Add(1) == c.nth {
		panic("context")
	}
}

func (c broken) Err() error {
	c.ask()
	return c.Context.Err()
}

func (c broken) Done() <-chan struct{} {
	c.ask()
	return c.Context.Done()
}

// hasPanicked reports whether the context was asked so often.
func (c broken) hasPanicked() bool { return c.asked.Load() >= c.nth }
