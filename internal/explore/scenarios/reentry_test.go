package scenarios

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/recipes/locks"
)

// under makes a context of a call one under a lease.
type under func(ctx context.Context, outer *locks.Lease) (context.Context, context.CancelFunc)

// underItsLife ends with the lease.
func underItsLife(ctx context.Context, outer *locks.Lease) (context.Context, context.CancelFunc) {
	return outer.WithContext(ctx)
}

// A holder takes its lock again. The first of its releases does not free the
// lock. A lock that was lost cannot be taken again.
func TestReentryOfTwo(t *testing.T) { explore.Search(t, reentry(underItsLife), quick()) }

func reentry(by under) explore.Scenario {
	return func(w *explore.World) {
		w.Node("/lock", "")
		inside := w.Section("the lock", 1)
		for _, name := range names(2) {
			w.Actor(name, func(a *explore.Actor) {
				lock := locks.NewInterProcessMutex(a.Client(), "/lock")
				outer, _ := take(w, a, "acquire", lock.Acquire)
				if outer == nil {
					return
				}
				leave := inside.Enter(a, outer.Context(), outer.FencingToken())
				pass(outer.Context(), 2*time.Second)
				inner := reenter(w, a, lock, outer, by)
				if inner != nil {
					pass(inner.Context(), 2*time.Second)
					give(w, a, inner)
				}
				pass(outer.Context(), 2*time.Second)
				checkLoss(w, a, outer)
				leave()
				give(w, a, outer)
			})
		}
	}
}

// reenter takes the lock again. That takes no time, so that nothing happens
// meanwhile.
func reenter(w *explore.World, a *explore.Actor, lock *locks.InterProcessMutex, outer *locks.Lease, by under) *locks.Lease {
	lost := context.Cause(outer.Context())
	inner, err := take(w, a, "re-enter", func(ctx context.Context) (*locks.Lease, error) {
		again, done := by(ctx, outer)
		defer done()
		return lock.Acquire(again)
	})
	switch {
	case lost == nil && err != nil && isEnd(a, err):
		// the client was closed meanwhile
	case lost == nil && err != nil:
		w.Fail("%s does not re-enter: %v", a.Name(), err)
	case lost != nil && !errors.Is(err, lost):
		w.Fail("%s re-enters a lock that it has lost by %v: %v", a.Name(), lost, err)
	case inner != nil && inner.FencingToken() != outer.FencingToken():
		w.Fail("%s re-enters with another token", a.Name())
	}
	return inner
}
