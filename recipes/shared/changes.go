package shared

import (
	"context"
	"iter"

	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/internal/sharednode"
)

// changes yields what is known, and each later state. An error is the last
// element.
func (r *replica) changes(ctx context.Context) iter.Seq2[*sharednode.Snapshot, error] {
	return func(yield func(*sharednode.Snapshot, error) bool) {
		var told *sharednode.Snapshot
		next := func() (now *sharednode.Snapshot, news bool) {
			synced, now := r.wasRead(), r.latest()
			if !synced || now.Same(told) {
				return nil, false
			}
			told = now
			return now, true
		}
		follow.Changes(ctx, &r.life, next, r.ended)(yield)
	}
}
