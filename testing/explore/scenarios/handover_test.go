package scenarios

import (
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/explore"
)

// relay is a lock that the goroutines of a client pass on among themselves.
type relay struct {
	world  *explore.World
	inside *explore.Section
}

// team is a client with that many goroutines.
func (r *relay) team(runners int) func(*explore.Actor) {
	return func(a *explore.Actor) {
		lock := locks.NewInterProcessMutex(a.Client(), "/lock", locks.WithLocalHandOver(1, time.Minute))
		var all sync.WaitGroup
		for range runners {
			a.Pause("brings another runner")
			all.Go(func() { r.run(a, lock) })
		}
		all.Wait()
	}
}

func (r *relay) run(a *explore.Actor, lock *locks.InterProcessMutex) {
	lease, _ := take(r.world, a, "acquire", lock.Acquire)
	if lease == nil {
		return
	}
	r.work(a, lease)
	give(r.world, a, lease)
}

func (r *relay) work(a *explore.Actor, lease *locks.Lease) {
	defer r.inside.Enter(a, lease.Context(), lease.FencingToken())()
	pass(lease.Context(), 2*time.Second)
	checkLoss(r.world, a, lease)
}

// Each of two clients has two or three goroutines that want the lock.
func TestLocalHandOver(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		w.Node("/lock", "")
		r := &relay{w, w.Section("the lock", 1)}
		w.Actor("A", r.team(3))
		w.Actor("B", r.team(2))
	}, quick())
}
