package scenarios

import (
	"context"
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/internal/reason"
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

// Somebody raises the limit while one waits for that.
func TestSemaphoreWhoseLimitIsRaised(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		p := newCarPark(w, locks.SharedLimit("/limit", 1), 2)
		w.Node("/limit", number(1))
		w.Actor("A", p.visitor(1))
		var raiser *explore.Actor
		w.Actor("B", func(a *explore.Actor) {
			s := locks.NewInterProcessSemaphore(a.Client(), "/s", p.limit)
			lease, _ := take(w, a, "acquire", func(ctx context.Context) (lease *locks.Lease, err error) {
				inVain, err := patiently(w, ctx, func(ctx context.Context) (err error) {
					lease, err = s.AcquireN(ctx, 2)
					return err
				})
				if inVain && !raiser.Closed() {
					w.Fail("%s waits in vain for the limit to be raised", a.Name())
				}
				if inVain {
					err = errInVain
				}
				return lease, err
			})
			if lease != nil {
				p.work(a, lease, 2)
				give(w, a, lease)
			}
		})
		raise := raiseLimit(w)
		w.Actor("C", func(a *explore.Actor) {
			raiser = a
			raise(a)
		})
	}, quick())
}

// raiseLimit sets the limit to 2.
func raiseLimit(w *explore.World) func(*explore.Actor) {
	set := &limitSets{}
	w.AtEnd(func(t explore.Tree) error {
		if limit := t["/limit"]; set.applied+set.unknown > 0 && string(limit.Data) != number(2) {
			return fmt.Errorf("the limit is %v", limit.Data)
		}
		return set.check(t)
	})
	return set.to(2)
}

// limitSets counts what those were told who set the limit. Each set that is told
// as applied has written once, one of an unknown outcome has written once at most,
// and no other has.
type limitSets struct{ applied, unknown int32 }

func (s *limitSets) check(t explore.Tree) error {
	if v := t["/limit"].Stat.Version; v < s.applied || v > s.applied+s.unknown {
		return fmt.Errorf("the limit was set %d times, of which %d were told as applied, and %d as unknown", v, s.applied, s.unknown)
	}
	return nil
}

// to sets the limit, again and again until that is told as applied.
func (s *limitSets) to(limit int) func(*explore.Actor) {
	return func(a *explore.Actor) {
		a.Pause("thinks")
		for done := false; !done && !a.Closed(); {
			_ = a.Call("set the limit", func(ctx context.Context) error {
				err := locks.SetSharedLimit(ctx, a.Client(), "/limit", limit)
				switch {
				case err == nil:
					s.applied++
					done = true
				case reason.Is(err, framework.ErrOutcomeUnknown):
					s.unknown++
				}
				return err
			})
		}
	}
}

// number is a limit as the node has it.
func number(n uint32) string { return string(binary.BigEndian.AppendUint32(nil, n)) }
