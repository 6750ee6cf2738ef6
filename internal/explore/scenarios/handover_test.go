package scenarios

import (
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/recipes/locks"
)

// relay is a lock that the goroutines of a client pass on among themselves.
type relay struct {
	world  *explore.World
	inside *explore.Section
	all    *attendance
	lag    time.Duration // how long a holder goes on when it has lost the lock

	mu   sync.Mutex
	over map[string]bool // nodes that were lost, or that somebody has asked for
}

func newRelay(w *explore.World) *relay {
	w.Node("/lock", "")
	return &relay{world: w, inside: w.Section("the lock", 1), all: watchAttendance(w, "/lock"), over: map[string]bool{}}
}

// team is a client with that many goroutines.
func (r *relay) team(runners int) func(*explore.Actor) {
	return r.goroutines(runners, locks.WithReleasePolicy(locks.ReleasePolicy{MaxReuses: 1, HandOver: time.Minute}))
}

func (r *relay) goroutines(runners int, opts ...locks.MutexOption) func(*explore.Actor) {
	return func(a *explore.Actor) {
		lock := locks.NewInterProcessMutex(a.Client(), "/lock", opts...)
		var all sync.WaitGroup
		for range runners {
			a.Pause("brings another runner")
			all.Go(func() { r.run(a, lock) })
		}
		all.Wait()
	}
}

func (r *relay) run(a *explore.Actor, lock *locks.InterProcessMutex) {
	lease := r.all.take(a, "acquire", lock.Acquire)
	if lease == nil {
		return
	}
	if r.isOver(lease) {
		r.world.Fail("%s passes on a lock that was lost or asked for", a.Name())
	}
	r.work(a, lease)
	r.all.give(a, lease)
}

func (r *relay) work(a *explore.Actor, lease *locks.Lease) {
	leave := r.inside.Enter(a, lease.Context(), lease.FencingToken())
	asked := lease.Revoked()
	pass(lease.Context(), 2*time.Second)
	leave()
	checkLoss(r.world, a, lease)
	if lease.Context().Err() != nil {
		r.end(lease)
		time.Sleep(r.lag)
	}
	select {
	case <-asked:
		r.end(lease)
	default:
	}
}

func (r *relay) isOver(lease *locks.Lease) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.over[lease.Path()]
}

func (r *relay) end(lease *locks.Lease) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over[lease.Path()] = true
}

// Each of two clients has two or three goroutines that want the lock.
func TestLocalHandOver(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		r := newRelay(w)
		w.Actor("A", r.team(3))
		w.Actor("B", r.team(2))
	}, quick())
}

// The first holder loses the lock, and goes on for a while. Nobody waits for that.
func TestLocalHandOverAfterALoss(t *testing.T) {
	searchSessionEnds(t, quick(), func(own trouble) explore.Scenario {
		return func(w *explore.World) {
			r := newRelay(w)
			r.lag = 15 * time.Second
			w.Actor("A", own.beside(r.team(3), time.Second))
		}
	})
}
