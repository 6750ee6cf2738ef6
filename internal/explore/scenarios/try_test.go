package scenarios

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// Of two that try a free lock at the same time, one gets it, unless something is
// wrong: who is first in the queue is not refused.
func TestTryOfTwo(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		w.Node("/lock", "")
		inside := w.Section("the lock", 1)
		refused := 0
		for _, name := range names(2) {
			w.Actor(name, func(a *explore.Actor) {
				lock := locks.NewInterProcessMutex(a.Client(), "/lock")
				session := a.Client().SessionID()
				lease, err := try(w, a, "try", lock.TryAcquire)
				if lease == nil {
					checkRefusal(w, a, err)
					if isRefusal(err) && a.Client().SessionID() == session {
						refused++
					}
					if refused == 2 {
						w.Fail("each is refused because of the other")
					}
					return
				}
				leave := inside.Enter(a, lease.Context(), lease.FencingToken())
				pass(lease.Context(), 3*time.Second)
				leave()
				checkLoss(w, a, lease)
				give(w, a, lease)
			})
		}
	}, quick())
}

// One that has given a lock up, or has given up waiting for it, is not in its own
// way when it tries, as long as the session lives.
func TestTryOfOne(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		w.Node("/lock", "")
		w.Actor("A", func(a *explore.Actor) {
			lock := locks.NewInterProcessMutex(a.Client(), "/lock")
			session := a.Client().SessionID()
			if lease, _ := take(w, a, "acquire", lock.Acquire); lease != nil {
				pass(lease.Context(), 3*time.Second)
				give(w, a, lease)
			}
			lease, err := try(w, a, "try", lock.TryAcquire)
			switch {
			case lease != nil:
				give(w, a, lease)
			case isRefusal(err) && a.Client().SessionID() == session:
				w.Fail("%s is in its own way: %v", a.Name(), err)
			}
		})
	}, quick())
}

// A try is no more in the way of the next one than an acquire is that was given up
// while its node was being made.
func TestTryAfterAnAcquire(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		w.Node("/lock", "")
		var me *explore.Actor   // A, when it plays
		var is, was atomic.Bool // a node of B is there, and one was since the last try began
		w.Always(func(tree explore.Tree) error {
			is.Store(me == nil || slices.ContainsFunc(below(tree, "/lock"), func(n zktest.Node) bool {
				return n.Stat.EphemeralOwner != me.Client().SessionID()
			}))
			if is.Load() {
				was.Store(true)
			}
			return nil
		})
		gone := make(chan struct{})
		w.Actor("B", func(a *explore.Actor) {
			defer close(gone)
			lock := locks.NewInterProcessMutex(a.Client(), "/lock")
			if lease, _ := take(w, a, "acquire", lock.Acquire); lease != nil {
				pass(lease.Context(), 300*time.Millisecond)
				give(w, a, lease)
			}
		})
		w.Actor("A", func(a *explore.Actor) {
			me = a
			session := a.Client().SessionID()
			time.Sleep(200 * time.Millisecond)
			lock := locks.NewInterProcessMutex(a.Client(), "/lock")
			if lease, _ := try(w, a, "try", lock.TryAcquire); lease != nil {
				give(w, a, lease)
			}
			<-gone
			if lease, _ := take(w, a, "acquire", lock.Acquire); lease != nil {
				give(w, a, lease)
			}
			was.Store(is.Load())
			lease, err := try(w, a, "try again", lock.TryAcquire)
			switch {
			case lease != nil:
				give(w, a, lease)
			case isRefusal(err) && !was.Load() && a.Client().SessionID() == session:
				w.Fail("%s is in its own way: %v", a.Name(), err)
			}
		})
	}, quick())
}

// isRefusal reports whether a try has seen that others are ahead.
func isRefusal(err error) bool {
	return errors.Is(err, locks.ErrNotAcquired) && !errors.Is(err, context.Canceled) && !errors.Is(err, framework.ErrOutcomeUnknown)
}

// checkRefusal looks at the error of a try: a refusal says who is ahead.
func checkRefusal(w *explore.World, a *explore.Actor, err error) {
	var others *locks.NotAcquiredError
	if isRefusal(err) && (!errors.As(err, &others) || others.Ahead == 0 || others.Holder == "") {
		w.Fail("%s is refused, and is not told by whom: %v", a.Name(), err)
	}
}
