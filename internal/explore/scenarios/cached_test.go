package scenarios

import (
	"testing"
	"time"

	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/recipes/locks"
)

// affinity is a lock that one client takes again and again, and others once.
type affinity struct {
	world  *explore.World
	inside *explore.Section // nil if an operator deletes nodes: then there may be two holders
	keeps  *keeping
	works  time.Duration
	ends   []error // what may end a lease, but for the loss of the session
}

func newAffinity(w *explore.World) *affinity {
	w.Node("/lock", "")
	w.AtEnd(nothingBelow("/lock"))
	return &affinity{world: w, inside: w.Section("the lock", 1), keeps: watchKeeping(w)}
}

// uses is how many acquires in a row come without a request.
const uses = 2

// regular takes the lock again and again.
func (s *affinity) regular(a *explore.Actor) {
	s.comes(a, 4, 3*time.Second, none, none)
	time.Sleep(10 * time.Second)
}

// comes takes the lock that often, and rests in between. In the second turn it has
// some trouble while it works, or behind that.
func (s *affinity) comes(a *explore.Actor, turns int, idle time.Duration, atWork, atRest trouble) {
	lock := locks.NewInterProcessMutex(a.Client(), "/lock", locks.WithReleasePolicy(locks.ReleasePolicy{
		MaxReuses: uses, Idle: idle,
	}))
	for turn := range turns {
		during := none
		if turn == 1 {
			during = atWork
		}
		s.visit(a, lock.Acquire, idle, during)
		a.Pause("rests")
		if turn == 1 {
			atRest(a)
		}
		time.Sleep(time.Second)
	}
}

// guest takes it once.
func (s *affinity) guest(after time.Duration) func(a *explore.Actor) {
	return func(a *explore.Actor) {
		time.Sleep(after)
		s.visit(a, locks.NewInterProcessMutex(a.Client(), "/lock").Acquire, 0, none)
	}
}

func (s *affinity) visit(a *explore.Actor, acquire acquiring, idle time.Duration, during trouble) {
	lease, _ := take(s.world, a, "acquire", acquire)
	if lease == nil {
		return
	}
	n := s.keeps.granted(a, lease, uses)
	s.work(a, lease, during)
	s.keeps.releases(a, lease, n, idle)
	give(s.world, a, lease)
}

func (s *affinity) work(a *explore.Actor, lease *locks.Lease, during trouble) {
	if s.inside != nil {
		defer s.inside.Enter(a, lease.Context(), lease.FencingToken())()
	}
	pass(lease.Context(), s.works)
	during(a)
	pass(lease.Context(), 500*time.Millisecond)
	checkLoss(s.world, a, lease, s.ends...)
}

func cachedLock(own trouble) explore.Scenario {
	return startsWith(own, func(w *explore.World) {
		s := newAffinity(w)
		w.Actor("A", s.regular)
		w.Actor("B", s.guest(700*time.Millisecond))
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

// An operator deletes the node of a lock that is idle, or held, or held for the
// last time.
func TestCachedLockWhoseNodeIsDeleted(t *testing.T) {
	for _, c := range []struct {
		name  string
		after time.Duration
		turns int
	}{{"held", 300 * time.Millisecond, 4}, {"idle", time.Second, 4}, {"held once", 300 * time.Millisecond, 1}} {
		t.Run(c.name, func(t *testing.T) {
			explore.Search(t, func(w *explore.World) {
				s := newAffinity(w)
				s.inside, s.ends = nil, []error{locks.ErrNodeDeleted}
				w.Actor("A", func(a *explore.Actor) {
					s.comes(a, c.turns, 3*time.Second, none, none)
					time.Sleep(10 * time.Second)
				})
				if c.turns > 1 {
					w.Actor("B", s.guest(1200*time.Millisecond))
				}
				w.Actor("C", func(a *explore.Actor) {
					time.Sleep(c.after)
					deleteBelow(a, "/lock")
				})
			}, quick())
		})
	}
}
