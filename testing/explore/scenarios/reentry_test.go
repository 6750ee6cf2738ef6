package scenarios

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/explore"
)

// A holder takes its lock again. The first of its releases does not free the
// lock. A lock that was lost cannot be taken again.
func TestReentryOfTwo(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
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
				inner := reenter(w, a, lock, outer)
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
	}, quick())
}

// reenter takes the lock again. That takes no time, so that nothing happens
// meanwhile.
func reenter(w *explore.World, a *explore.Actor, lock *locks.InterProcessMutex, outer *locks.Lease) *locks.Lease {
	lost := context.Cause(outer.Context())
	inner, err := take(w, a, "re-enter", func(ctx context.Context) (*locks.Lease, error) {
		under, done := outer.WithContext(ctx)
		defer done()
		return lock.Acquire(under)
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
