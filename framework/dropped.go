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

// watch makes the calls until ctx ends.
func (d *dropped) watch(ctx context.Context) {
	tick := time.NewTicker(dropInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			for _, f := range d.take() {
				f()
			}
		case <-ctx.Done():
			return
		}
	}
}
