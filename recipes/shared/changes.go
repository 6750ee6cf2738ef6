package shared

import (
	"context"
	"iter"

	"github.com/gocurator/curator/recipes/internal/sharednode"
)

// changes yields what is known, and each later state. An error is the last
// element.
func (r *replica) changes(ctx context.Context) iter.Seq2[*sharednode.Snapshot, error] {
	return func(yield func(*sharednode.Snapshot, error) bool) {
		var told *sharednode.Snapshot
		for {
			changed, err := r.life.Changed()
			synced, now := r.wasRead(), r.latest()
			switch {
			case ctx.Err() != nil:
				return
			case synced && !now.Same(told):
				if told = now; !yield(now, nil) {
					return
				}
				continue
			case err != nil:
				yield(nil, r.ended(err))
				return
			}
			select {
			case <-changed:
			case <-ctx.Done():
			}
		}
	}
}
