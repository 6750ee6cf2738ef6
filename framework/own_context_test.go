package framework_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
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

// polite is a context of the user's own making, whose callers let another one go
// first, once they are told to.
type polite struct {
	context.Context
	told *atomic.Bool
	gone <-chan struct{} // closed when the other one has gone
}

func (c polite) Err() error {
	if c.told.Load() {
		<-c.gone
	}
	return c.Context.Err()
}

// The panic is the caller's own, who is the one that begins the read for all.
// Others that want to read the node are not kept waiting, and no watch is left
// when they stop. That holds for each time at which the context is asked, also
// while the read waits for room, and whether or not it sets the watch.
//
// Promise: A context that panics in a shared read blocks no other reader.
func TestContextThatPanicsInASharedRead(t *testing.T) {
	for _, crowd := range []bool{false, true} {
		for _, joins := range []bool{false, true} {
			t.Run(fmt.Sprintf("waits for room %v, joins a watch %v", crowd, joins), func(t *testing.T) {
				for nth, hit := int32(1), true; hit; nth++ {
					bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
						hit = panicsInASharedRead(t, srv, c, crowd, joins, nth)
					})
				}
			})
		}
	}
}

func panicsInASharedRead(
	t *testing.T, srv *zktest.Server, c *framework.Client, crowd, joins bool, nth int32,
) (hit bool) {
	mustCreate(t, c, "/n", "")
	srv.Inject(zktest.Rule{Op: zktest.OpGetData, Times: 3, Do: zktest.DelayReply(time.Second)})
	var all sync.WaitGroup
	read := func(ctx context.Context, stop bool) (gone <-chan struct{}, stopLater func()) {
		done, later := make(chan struct{}), func() {}
		all.Go(func() {
			defer close(done)
			defer func() { assert.Contains(t, []any{nil, "context"}, recover()) }()
			_, _, w, err := c.GetW(ctx, "/n")
			if !assert.NoError(t, err, "panic at %d", nth) {
				return
			}
			if later = w.Stop; stop {
				w.Stop()
			}
		})
		synctest.Wait()
		return done, func() { later() }
	}
	var told atomic.Bool
	first, stopFirst := read(within(t, time.Minute), !joins) // all others wait until it has set a watch
	ctx := newBroken(polite{within(t, time.Minute), &told, first}, nth)
	second, _ := read(ctx, true)
	for range 2 {
		read(polite{within(t, time.Minute), &told, second}, true)
	}
	told.Store(true)
	wait := func() {}
	if crowd {
		wait = crowdConnection(t.Context(), c, srv, 3*time.Second)
	}
	all.Wait()
	wait()
	stopFirst()
	synctest.Wait()
	srv.AssertNoWatches(t)
	return ctx.hasPanicked()
}
