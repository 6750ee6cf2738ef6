package scenarios

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/barriers"
	"github.com/gocurator/curator/testing/explore"
)

// enough is a time in which everything comes to its end that can.
const enough = 40 * time.Second

// patiently calls do with an end of its own. It reports whether that has come.
func patiently(ctx context.Context, do func(ctx context.Context) error) (inVain bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, enough)
	defer cancel()
	err = do(ctx)
	if err != nil && context.Cause(ctx) == context.DeadlineExceeded {
		return true, nil
	}
	return false, err
}

// sayGoodbye is how long Enter and Leave go on when their context has ended.
const sayGoodbye = time.Second

// gate has an actor who raises a barrier and lowers it again, and others who wait
// for that.
func gate(waiters int, opts ...barriers.RaiseOption) explore.Scenario {
	return func(w *explore.World) {
		w.Stays("/barrier")          // if Lower gives up
		begun := make(chan struct{}) // closed when the barrier is up, or is not to come
		var raised *barriers.Raised  // what Raise has returned, until it is to be lowered
		var down time.Time           // when the barrier was down last
		refused := false             // Raise has said that it is not up, and will not be
		var raiser *explore.Actor
		var expiries int // of its sessions, when it was raised
		up := false      // now
		w.Always(func(tree explore.Tree) error {
			if _, up = tree["/barrier"]; !up {
				down = time.Now()
			}
			switch {
			case up && refused:
				return errors.New("the barrier is up, and Raise has said that it is not")
			case up || raised == nil:
				return nil
			case raised.Owner == 0:
				return errors.New("the barrier is down before Lower")
			case raised.Session.Context().Err() == nil && raiser.Expiries() == expiries:
				return errors.New("the barrier is down before its session has ended")
			}
			return nil
		})
		w.Actor("A", func(a *explore.Actor) {
			barrier := barriers.NewBarrier(a.Client(), "/barrier")
			err := a.Call("raise", func(ctx context.Context) error {
				is, err := barrier.Raise(ctx, opts...)
				if err == nil {
					raised, raiser, expiries = &is, a, a.Expiries()
				}
				return err
			})
			refused = err != nil && !reason.Is(err, framework.ErrOutcomeUnknown)
			close(begun)
			time.Sleep(time.Second)
			raised = nil
			if a.Call("lower", barrier.Lower) == nil && up {
				w.Fail("the barrier is up behind Lower")
			}
		})
		for _, name := range names(waiters + 1)[1:] {
			w.Actor(name, func(a *explore.Actor) {
				<-begun
				since, wasUp := time.Now(), up
				inVain := false
				err := a.Call("wait", func(ctx context.Context) (err error) {
					inVain, err = patiently(ctx, barriers.NewBarrier(a.Client(), "/barrier").Wait)
					return err
				})
				switch {
				case err == nil && !inVain && wasUp && up && down.Before(since):
					w.Fail("%s has passed the barrier, which was up", name)
				case inVain && !up:
					w.Fail("%s waits for a barrier that is not up", name)
				}
			})
		}
	}
}

func TestBarrier(t *testing.T) { explore.Search(t, gate(2), quick) }

func TestBarrierOfASession(t *testing.T) {
	explore.Search(t, gate(1, barriers.WithSession()), quick)
}

func TestBarrierInAnEnsemble(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		w.Ensemble(3)
		gate(1)(w)
	}, quick)
}

// member is an actor who has entered a double barrier.
type member struct {
	actor    *explore.Actor
	passage  *barriers.Passage
	expiries int  // of the actor's sessions, when it entered
	leaving  bool // it has called Leave
	left     bool // Leave has returned nil
}

// inside reports whether the member works: it is not told to stop.
func (m *member) inside() bool {
	return !m.leaving && m.passage.Context().Err() == nil && m.actor.Expiries() == m.expiries
}

func sameRound(a, b *member) bool {
	return slices.Equal(a.passage.Members(), b.passage.Members())
}

// checkRounds looks at all members, after each move.
func checkRounds(members []*member, tree explore.Tree) error {
	for _, m := range members {
		for _, o := range members {
			if m != o && sameRound(m, o) && m.left && o.inside() {
				return fmt.Errorf("%s has left, and %s is still inside", m.actor.Name(), o.actor.Name())
			}
		}
		var lost *barriers.MemberLostError
		if !errors.As(context.Cause(m.passage.Context()), &lost) {
			continue
		}
		for _, name := range lost.Members {
			if _, there := tree["/barrier/"+name]; there {
				return fmt.Errorf("%s takes %s for lost, whose node is there", m.actor.Name(), name)
			}
			for _, o := range members {
				if o.passage.Name() == name && o.left {
					return fmt.Errorf("%s takes %s for lost, who has left", m.actor.Name(), o.actor.Name())
				}
			}
		}
	}
	return nil
}

// rendezvous has actors who want to be inside by twos.
func rendezvous(contenders int, opts ...barriers.Option) explore.Scenario {
	return func(w *explore.World) {
		w.Node("/barrier", "")
		var members []*member
		var alone []string // those who have waited in vain
		w.Always(func(tree explore.Tree) error { return checkRounds(members, tree) })
		for i, name := range names(contenders) {
			w.Actor(name, func(a *explore.Actor) {
				time.Sleep(time.Duration(i) * time.Millisecond) // the order of members is that of their coming
				barrier := barriers.NewDoubleBarrier(a.Client(), "/barrier", 2, opts...)
				var m *member
				_ = a.CallWithin("enter", sayGoodbye, func(ctx context.Context) error {
					inVain, err := patiently(ctx, func(ctx context.Context) error {
						p, err := barrier.Enter(ctx)
						if err == nil {
							m = &member{actor: a, passage: p, expiries: a.Expiries()}
						}
						return err
					})
					if inVain {
						alone = append(alone, name)
					}
					return err
				})
				if len(alone) > 1 {
					w.Fail("%v have waited for each other", alone)
				}
				if m == nil {
					return
				}
				members = append(members, m)
				if all := m.passage.Members(); all != nil && (len(all) != 2 || !slices.Contains(all, m.passage.Name())) {
					w.Fail("%s is inside with %v", name, all)
				}
				time.Sleep(time.Second)
				m.leaving = true
				err := a.CallWithin("leave", sayGoodbye, func(ctx context.Context) error {
					inVain, err := patiently(ctx, m.passage.Leave)
					m.left = err == nil && !inVain
					if inVain {
						w.Fail("%s waits in vain for the others to leave", name)
					}
					return err
				})
				if err != nil && reason.Is(err, barriers.ErrNotLeft) == reason.Is(err, framework.ErrSessionLost) {
					w.Fail("%s: leave ends with %v", name, err)
				}
			})
		}
		w.AtEnd(func(tree explore.Tree) error {
			if left := below(tree, "/barrier"); len(left) > 0 {
				return fmt.Errorf("%+v is left", left)
			}
			return nil
		})
	}
}

func TestDoubleBarrier(t *testing.T) { explore.Search(t, rendezvous(2), quick) }

func TestDoubleBarrierWithOneTooMany(t *testing.T) { explore.Search(t, rendezvous(3), quick) }

func TestDoubleBarrierInCuratorsLayout(t *testing.T) {
	explore.Search(t, rendezvous(2, barriers.WithCuratorLayout()), quick)
}
