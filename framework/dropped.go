package framework

import (
	"context"
	"sync"
	"time"
)

// dropped are the calls for objects that were dropped; see Extension.OnDrop.
type dropped struct {
	watching sync.Once

	mu    sync.Mutex // protects the following field
	calls []func()
}

// dropInterval is how often the client looks whether something was dropped.
const dropInterval = time.Second

// OnDrop returns the function that runtime.AddCleanup shall call with f:
//
//	runtime.AddCleanup(object, ext.OnDrop(), f)
//
// The client then calls f on a goroutine of its own, some time after nothing in
// the program refers to the object any more. f must not refer to the object,
// and must not block. A closed client does not call it.
//
// The garbage collector calls clean-ups from outside of any bubble of
// testing/synctest, where they must not touch a channel of a bubble. So the
// function leaves a note, and the client looks for notes once a second.
func (e Extension) OnDrop() func(f func()) {
	d := &e.dropped
	d.watching.Do(func() { e.spawn(e.watchDropped) })
	return d.add
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
