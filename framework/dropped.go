package framework

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// dropped are the calls for objects that were dropped; see OnDrop.
type dropped struct {
	watching sync.Once

	mu    sync.Mutex // protects the following field
	calls []func()
}

// dropInterval is how often the client looks whether something was dropped.
const dropInterval = time.Second

// OnDrop has f called, on a goroutine of the client's, some time after nothing
// in the program refers to the object any more, unless stop is called before. f
// must not refer to the object, and must not block.
//
// The garbage collector calls it from outside of any bubble of
// testing/synctest, where it must not touch a channel of a bubble. So the
// collector leaves a note, and the client looks for notes once a second.
func OnDrop[T any](c *Client, object *T, f func()) (stop func()) {
	d := &c.dropped
	d.watching.Do(func() { c.spawn(c.watchDropped) })
	return runtime.AddCleanup(object, d.add, f).Stop
}

func (d *dropped) add(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls = append(d.calls, f)
}

func (d *dropped) take() []func() {
	d.mu.Lock()
	defer d.mu.Unlock()
	calls := d.calls
	d.calls = nil
	return calls
}

func (c *Client) watchDropped(ctx context.Context) {
	tick := time.NewTicker(dropInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			for _, f := range c.dropped.take() {
				f()
			}
		case <-ctx.Done():
			return
		}
	}
}
