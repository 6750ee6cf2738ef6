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

// patiently calls do under a context that ends when do has had enough time, in
// which nothing has gone wrong. It reports whether that has come.
func patiently(w *explore.World, ctx context.Context, do func(ctx context.Context) error) (inVain bool, err error) {
	begun := time.Now()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		for {
			left := enough - min(w.Quiet(), time.Since(begun))
			if left <= 0 {
				cancel(errInVain)
				return
			}
			select {
			case <-time.After(left):
			case <-ctx.Done():
				return
			}
		}
	}()
	err = do(ctx)
	if err != nil && context.Cause(ctx) == errInVain {
		return true, nil
	}
	return false, err
}

var errInVain = errors.New("waited in vain")

// sayGoodbye is how long Enter and Leave go on when their context has ended.
const sayGoodbye = time.Second

// gate has an actor who raises a barrier and lowers it again, and others who wait
// for that.
func gate(waiters int, own trouble, opts ...barriers.RaiseOption) explore.Scenario {
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
			own(a)
			time.Sleep(time.Second)
			raised = nil
			for err = errors.New("not lowered"); err != nil && !reason.Is(err, framework.ErrClosed); {
				err = a.Call("lower", barrier.Lower)
			}
			if err == nil && up {
				w.Fail("the barrier is up behind Lower")
			}
		})
		for _, name := range names(waiters + 1)[1:] {
			w.Actor(name, func(a *explore.Actor) {
				<-begun
				since, wasUp := time.Now(), up
				if a.Call("wait", barriers.NewBarrier(a.Client(), "/barrier").Wait) == nil && wasUp && up && down.Before(since) {
					w.Fail("%s has passed the barrier, which was up", name)
				}
			})
		}
	}
}

func TestBarrier(t *testing.T) { explore.Search(t, gate(2, none), quick()) }

func TestBarrierOfASession(t *testing.T) {
	explore.Search(t, gate(1, none, barriers.WithSession()), quick())
}

func TestBarrierOfALostSession(t *testing.T) {
	explore.Search(t, gate(1, expired, barriers.WithSession()), quick())
}

func TestBarrierInAnEnsemble(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		w.Ensemble(3)
		gate(1, none)(w)
	}, quick())
}

// member is an actor who has entered a double barrier.
type member struct {
	actor    *explore.Actor
	passage  *barriers.Passage
	expiries int       // of the actor's sessions, when it entered
	leaving  bool      // it has called Leave
	left     bool      // Leave has returned nil
	others   []*member // who were inside when it called Leave
}

// inside reports whether the member works: it is not told to stop.
func (m *member) inside() bool {
	return !m.leaving && m.passage.Context().Err() == nil && m.actor.Expiries() == m.expiries
}

// waitsFor reports whether Leave of a member waits for another one. In Curator's
// layout, which knows no rounds, it does not wait for those who come later.
func (m *member) waitsFor(o *member) bool {
	if all := m.passage.Members(); all != nil {
		return slices.Contains(all, o.passage.Name())
	}
	return slices.Contains(m.others, o)
}

// checkRounds looks at all members, after each move.
func checkRounds(members []*member, tree explore.Tree) error {
	for _, m := range members {
		for _, o := range members {
			if m != o && m.left && m.waitsFor(o) && o.inside() {
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

// rendezvous has actors who want to be inside by twos, some times in a row.
func rendezvous(contenders, times int, first trouble, opts ...barriers.Option) explore.Scenario {
	return func(w *explore.World) {
		w.Node("/barrier", "")
		m := &meeting{world: w, opts: opts, trouble: first}
		w.Always(func(tree explore.Tree) error { return checkRounds(m.members, tree) })
		for i, name := range names(contenders) {
			w.Actor(name, func(a *explore.Actor) {
				time.Sleep(time.Duration(i) * time.Millisecond) // the order of members is that of their coming
				for range times {
					m.join(a)
				}
			})
		}
		// In Curator's layout, it goes with the session, or with the next member, if
		// a member was lost after the others had given up their Leave.
		w.Stays("/barrier/ready")
		w.AtEnd(func(tree explore.Tree) error {
			delete(tree, "/barrier/ready")
			return nothingBelow("/barrier")(tree)
		})
	}
}

// meeting is a double barrier, and who is there.
type meeting struct {
	world   *explore.World
	opts    []barriers.Option
	trouble trouble // of the first one, inside
	members []*member
	alone   []inVain // those who have waited in vain
}

// inVain is somebody who has waited for others, and when he began.
type inVain struct {
	actor *explore.Actor
	since time.Time
}

// waitedInVain notes that somebody has waited alone. Two who do so at the same
// time should have met.
func (m *meeting) waitedInVain(a *explore.Actor, since time.Time) {
	for _, o := range m.alone {
		if o.actor != a && since.Sub(o.since) < enough/2 {
			m.world.Fail("%s and %s have waited for each other", o.actor.Name(), a.Name())
		}
	}
	m.alone = append(m.alone, inVain{a, since})
}

// join enters, works and leaves.
func (m *meeting) join(a *explore.Actor) {
	me := m.enter(a)
	if me == nil {
		return
	}
	if all := me.passage.Members(); all != nil && (len(all) != 2 || !slices.Contains(all, me.passage.Name())) {
		m.world.Fail("%s is inside with %v", a.Name(), all)
	}
	if a.Name() == "A" {
		m.trouble(a)
	}
	time.Sleep(time.Second)
	m.leave(me)
}

func (m *meeting) enter(a *explore.Actor) (me *member) {
	barrier := barriers.NewDoubleBarrier(a.Client(), "/barrier", 2, m.opts...)
	since := time.Now()
	_ = a.CallWithin("enter", sayGoodbye, func(ctx context.Context) error {
		inVain, err := patiently(m.world, ctx, func(ctx context.Context) error {
			p, err := barrier.Enter(ctx)
			if err == nil {
				me = &member{actor: a, passage: p, expiries: a.Expiries()}
				m.members = append(m.members, me)
			}
			return err
		})
		if inVain {
			m.waitedInVain(a, since)
		}
		return err
	})
	return me
}

func (m *meeting) leave(me *member) {
	me.leaving = true
	for _, o := range m.members {
		if o.inside() {
			me.others = append(me.others, o)
		}
	}
	err := me.actor.CallWithin("leave", sayGoodbye, func(ctx context.Context) error {
		inVain, err := patiently(m.world, ctx, me.passage.Leave)
		me.left = err == nil && !inVain
		if inVain {
			m.world.Fail("%s waits in vain for the others to leave", me.actor.Name())
		}
		return err
	})
	// It is both if the session is lost while the member says goodbye.
	if err != nil && !reason.Is(err, barriers.ErrNotLeft) && !reason.Is(err, framework.ErrSessionLost) {
		m.world.Fail("%s: leave ends with %v", me.actor.Name(), err)
	}
}

func TestDoubleBarrier(t *testing.T) { explore.Search(t, rendezvous(2, 1, none), quick()) }

func TestDoubleBarrierWithALoss(t *testing.T) { explore.Search(t, rendezvous(2, 1, loss), quick()) }

func TestDoubleBarrierWithAnExpiry(t *testing.T) {
	explore.Search(t, rendezvous(2, 2, expired), quick())
}

func TestDoubleBarrierWhoseMemberLingers(t *testing.T) {
	explore.Search(t, rendezvous(2, 2, givenUp), quick())
}

func TestDoubleBarrierTwice(t *testing.T) { explore.Search(t, rendezvous(2, 2, none), quick()) }

func TestDoubleBarrierWithOneTooMany(t *testing.T) {
	explore.Search(t, rendezvous(3, 1, none), quick())
}

func TestDoubleBarrierInCuratorsLayout(t *testing.T) {
	explore.Search(t, rendezvous(2, 1, none, barriers.WithCuratorLayout()), quick())
}

func TestDoubleBarrierInAnEnsemble(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		w.Ensemble(3)
		rendezvous(2, 1, none)(w)
	}, quick())
}
