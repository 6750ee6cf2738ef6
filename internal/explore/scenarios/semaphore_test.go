package scenarios

import (
	"context"
	"testing"
	"time"

	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/recipes/locks"
)

// carPark is what a semaphore protects.
type carPark struct {
	world *explore.World
	limit locks.SemaphoreLimit
	cars  *explore.Section
}

func newCarPark(w *explore.World, limit locks.SemaphoreLimit, most int) *carPark {
	for _, path := range []string{"/s", "/s/locks", "/s/leases"} {
		w.Node(path, "")
	}
	return &carPark{w, limit, w.Section("the car park", most)}
}

// visitor takes n leases at once and works for a while.
func (p *carPark) visitor(n int) func(*explore.Actor) {
	return func(a *explore.Actor) {
		s := locks.NewInterProcessSemaphore(a.Client(), "/s", p.limit)
		lease, _ := take(p.world, a, "acquire", func(ctx context.Context) (*locks.Lease, error) {
			return s.AcquireN(ctx, n)
		})
		if lease != nil {
			p.work(a, lease, n)
			give(p.world, a, lease)
		}
	}
}

func (p *carPark) work(a *explore.Actor, lease *locks.Lease, n int) {
	for range n {
		defer p.cars.Enter(a, lease.Context(), 0)()
	}
	if got := len(lease.Checks()); got != n {
		p.world.Fail("%s has %d leases instead of %d", a.Name(), got, n)
	}
	pass(lease.Context(), 3*time.Second)
	checkLoss(p.world, a, lease)
}

// Two have a lease each, while one waits for both of them.
func TestSemaphoreOfTwo(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		p := newCarPark(w, locks.Limit(2), 2)
		w.Actor("A", p.visitor(1))
		w.Actor("B", p.visitor(2))
		w.Actor("C", p.visitor(1))
	}, quick())
}

// Each of two wants all there is, and none waits with a part of it.
func TestSemaphoreOfWhichEachWantsAll(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		p := newCarPark(w, locks.Limit(2), 2)
		w.Actor("A", p.visitor(2))
		w.Actor("B", p.visitor(2))
	}, quick())
}

// Each of two wants all there is, twice, and both lose their connections at some
// point, with the replies that are under way.
func TestSemaphoreWhoseRepliesAreLost(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		p := newCarPark(w, locks.Limit(2), 2)
		var visitors []*explore.Actor
		for _, name := range names(2) {
			w.Actor(name, func(a *explore.Actor) {
				visitors = append(visitors, a)
				p.visitor(2)(a)
				p.visitor(2)(a)
			})
		}
		w.Actor("C", func(a *explore.Actor) {
			a.Pause("thinks")
			for _, v := range visitors {
				v.Cut()
			}
		})
	}, quick())
}

// An operator deletes one of two leases, of which their holder hears only when it
// gives both back.
func TestSemaphoreWhoseLeaseIsDeleted(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		for _, path := range []string{"/s", "/s/locks", "/s/leases"} {
			w.Node(path, "")
		}
		for i, name := range names(2) {
			w.Actor(name, func(a *explore.Actor) {
				time.Sleep(time.Duration(i) * time.Second / 4)
				s := locks.NewInterProcessSemaphore(a.Client(), "/s", locks.Limit(2))
				lease, _ := take(w, a, "acquire", func(ctx context.Context) (*locks.Lease, error) { return s.AcquireN(ctx, 2) })
				if lease == nil {
					return
				}
				pass(lease.Context(), time.Second/2)
				checkLoss(w, a, lease, locks.ErrNodeDeleted)
				give(w, a, lease)
			})
		}
		w.Actor("O", func(a *explore.Actor) {
			time.Sleep(time.Second / 4)
			deleteLast(a, "/s/leases")
		})
	}, quick())
}
