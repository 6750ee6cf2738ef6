package shared

import (
	"context"
	"iter"
)

// changes yields what is known, and each later state. An error is the last
// element.
func (r *replica) changes(ctx context.Context) iter.Seq2[*snapshot, error] {
	return func(yield func(*snapshot, error) bool) {
		var told *snapshot
		for {
			r.mu.Lock()
			now, synced, err, changed := r.now, r.synced, r.err, r.changed
			r.mu.Unlock()
			switch {
			case ctx.Err() != nil:
				return
			case synced && !now.same(told):
				if told = now; !yield(now, nil) {
					return
				}
				continue
			case err != nil:
				yield(nil, err)
				return
			}
			select {
			case <-changed:
			case <-ctx.Done():
			}
		}
	}
}
