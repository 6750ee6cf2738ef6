package scenarios

import (
	"testing"
	"time"

	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/explore"
)

// affinity is a lock that one client takes again and again, and others once.
type affinity struct {
	world  *explore.World
	inside *explore.Section // nil if an operator deletes nodes: then there may be two holders
}

// regular takes the lock again and again.
func (s *affinity) regular(a *explore.Actor) {
	lock := locks.NewInterProcessMutex(a.Client(), "/lock", locks.WithCachedLock(2, 3*time.Second))
	for range 3 {
		s.visit(a, lock.Acquire)
		a.Pause("rests")
		time.Sleep(time.Second)
	}
}

// guest takes it once.
func (s *affinity) guest(after time.Duration) func(a *explore.Actor) {
	return func(a *explore.Actor) {
		time.Sleep(after)
		s.visit(a, locks.NewInterProcessMutex(a.Client(), "/lock").Acquire)
	}
}

func (s *affinity) visit(a *explore.Actor, acquire acquiring) {
	lease, _ := take(s.world, a, "acquire", acquire)
	if lease == nil {
		return
	}
	s.work(a, lease)
	give(s.world, a, lease)
}

func (s *affinity) work(a *explore.Actor, lease *locks.Lease) {
	if s.inside != nil {
		defer s.inside.Enter(a, lease.Context(), lease.FencingToken())()
	}
	pass(lease.Context(), 500*time.Millisecond)
	if s.inside != nil {
		checkLoss(s.world, a, lease)
	} else {
		checkLoss(s.world, a, lease, locks.ErrNodeDeleted)
	}
}

func cachedLock(own trouble) explore.Scenario {
	return startsWith(own, func(w *explore.World) {
		w.Node("/lock", "")
		s := &affinity{world: w, inside: w.Section("the lock", 1)}
		w.Actor("A", s.regular)
		w.Actor("B", s.guest(700*time.Millisecond))
		w.AtEnd(nothingBelow("/lock"))
	})
}

func TestCachedLock(t *testing.T) { explore.Search(t, cachedLock(none), quick()) }

// The regular loses its session, or may have lost it, when it has the lock or has
// just had it.
func TestCachedLockOfOneThatLosesItsSession(t *testing.T) {
	for name, own := range map[string]trouble{"expired": expired, "given up": givenUp, "cut": cut} {
		t.Run(name, func(t *testing.T) {
			explore.Search(t, cachedLock(own), quick())
		})
	}
}

// Both keep the lock.
func TestCachedLockOfTwo(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		w.Node("/lock", "")
		s := &affinity{world: w, inside: w.Section("the lock", 1)}
		w.Actor("A", s.regular)
		w.Actor("B", s.regular)
		w.AtEnd(nothingBelow("/lock"))
	}, quick())
}

func TestCachedLockInAnEnsemble(t *testing.T) {
	explore.Search(t, inEnsemble(cachedLock(none), time.Second), quick())
}

// An operator deletes the node of a lock that is idle, or held.
func TestCachedLockWhoseNodeIsDeleted(t *testing.T) {
	for name, after := range map[string]time.Duration{"held": 300 * time.Millisecond, "idle": time.Second} {
		t.Run(name, func(t *testing.T) {
			explore.Search(t, func(w *explore.World) {
				w.Node("/lock", "")
				s := &affinity{world: w}
				w.Actor("A", s.regular)
				w.Actor("B", s.guest(1200*time.Millisecond))
				w.Actor("C", func(a *explore.Actor) {
					time.Sleep(after)
					deleteBelow(a, "/lock")
				})
				w.AtEnd(nothingBelow("/lock"))
			}, quick())
		})
	}
}
