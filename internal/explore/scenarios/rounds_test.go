package scenarios

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/barriers"
	"github.com/gocurator/curator/testing/zktest"
)

// round is one of the rounds that the node of a barrier has.
type round struct{ Members []string }

// rounds sees what becomes of the rounds of a barrier.
type rounds struct{ last []round }

// check is called after each move: a server makes one change for each. Curator's
// layout has no rounds.
func (r *rounds) check(tree explore.Tree) error {
	var now struct{ Rounds []round }
	_ = json.Unmarshal(tree["/barrier"].Data, &now) // it may be empty
	there := func(name string) bool { return tree["/barrier/"+name].Path != "" }
	has := func(all []round, one round) bool {
		return slices.ContainsFunc(all, func(o round) bool { return slices.Equal(o.Members, one.Members) })
	}
	for _, one := range r.last {
		if i := slices.IndexFunc(one.Members, there); i >= 0 && !has(now.Rounds, one) {
			return fmt.Errorf("the round of %v is not known any more, and %s is there", one.Members, one.Members[i])
		}
	}
	for _, one := range now.Rounds {
		if has(r.last, one) {
			continue
		}
		for _, name := range one.Members {
			if !there(name) {
				return fmt.Errorf("a round begins with %s, whose node is not there", name)
			}
			for _, n := range below(tree, "/barrier") {
				if other := n.Path[len("/barrier/"):]; isLaterNode(other, name) {
					return fmt.Errorf("a round begins with %s, and %s is there", name, other)
				}
			}
		}
	}
	r.last = now.Rounds
	return nil
}

// isLaterNode reports whether a member has made this node behind the other one.
// The number of the attempt is at the end of the name.
func isLaterNode(name, other string) bool {
	entry, _, _ := strings.Cut(other, ".")
	number, ok := strings.CutPrefix(name, entry+".")
	return ok && (len(name) > len(other) || len(name) == len(other) && number > other[len(entry)+1:])
}

// The request of the second one to come, which opens the first round, takes its
// time. A member may be lost meanwhile, or others may open it.
func TestDoubleBarrierThatOpensSlowly(t *testing.T) {
	slow := meets(zktest.OpMulti, zktest.DelayRequest(time.Second))
	for _, contenders := range []int{2, 4} {
		t.Run(fmt.Sprint(contenders, " members"), func(t *testing.T) {
			explore.Search(t, meeting{trouble: none, n: 2, second: slow}.of(contenders, 1), quick())
		})
	}
}

// A member has two nodes for a while.
func TestDoubleBarrierWhoseFirstNodeIsLate(t *testing.T) {
	explore.Search(t, startsWith(late(zktest.OpCreate), meeting{trouble: none, n: 2, apart: 2 * time.Second}.of(2, 1)), quick())
}

// One comes when a round is over, of which its server has not heard yet.
func TestDoubleBarrierInCuratorsLayoutBehindARound(t *testing.T) {
	for i, name := range names(3) {
		t.Run(name, func(t *testing.T) {
			at := make([]time.Duration, 3)
			at[i] = 1700 * time.Millisecond
			explore.Search(t, inEnsemble(meeting{trouble: none, n: 2, at: at, opts: []barriers.Option{barriers.WithCuratorLayout()}}.of(3, 1), 0, time.Second), brief())
		})
	}
}

// A third one comes when another one leaves, whose server has not heard of it yet.
// The one that had entered with that one does not wait for anybody.
func TestDoubleBarrierInCuratorsLayoutThatIsLeftBehindAnArrival(t *testing.T) {
	explore.Search(t, inEnsemble(func(w *explore.World) {
		w.Node("/barrier", "")
		w.Stays("/barrier/ready")
		m := &meeting{world: w, n: 2, opts: []barriers.Option{barriers.WithCuratorLayout()}}
		w.Always(func(tree explore.Tree) error { return checkRounds(m.members, tree) })
		comes := func(name string, at, stays time.Duration, leave func(*member)) {
			w.Actor(name, func(a *explore.Actor) {
				time.Sleep(at)
				if me := m.enter(a); me != nil {
					time.Sleep(stays)
					leave(me)
				}
			})
		}
		comes("A", 500*time.Millisecond, 0, func(me *member) { m.leaveWithin(me, 0) })
		comes("B", 0, 0, m.leave)
		w.Actor("other", func(*explore.Actor) {}) // so that the next one is at the first server, which does not lag
		comes("C", 1200*time.Millisecond, 5*time.Second, m.leave)
	}, 0, time.Second), brief())
}

// A member calls Leave twice at once. One of the calls gives up, and the other one
// waits on.
func TestDoubleBarrierWithTwoLeavesAtOnce(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		w.Node("/barrier", "")
		m := &meeting{world: w, n: 2}
		w.Always(func(tree explore.Tree) error { return checkRounds(m.members, tree) })
		w.Actor("A", func(a *explore.Actor) {
			if me := m.enter(a); me != nil {
				time.Sleep(5 * time.Second)
				m.leave(me)
			}
		})
		w.Actor("B", func(a *explore.Actor) {
			if me := m.enter(a); me != nil {
				hasty := make(chan struct{})
				go func() {
					defer close(hasty)
					m.leaveWithin(me, time.Second)
				}()
				m.leaveWithin(me, enough)
				<-hasty
			}
		})
		w.AtEnd(nothingBelow("/barrier"))
	}, quick())
}

// leaveWithin leaves, and gives up after some time. No Leave gives up for another
// one.
func (m *meeting) leaveWithin(me *member, d time.Duration) {
	me.leaving = true
	err := me.actor.CallWithin("leave within "+d.String(), sayGoodbye, func(ctx context.Context) error {
		within, cancel := context.WithTimeout(ctx, d)
		defer cancel()
		err := me.passage.Leave(within)
		if reason.Is(err, barriers.ErrNotLeft) && within.Err() == nil {
			m.world.Fail("%s: a Leave of %v ends with %v", me.actor.Name(), d, err)
		}
		me.left = me.left || err == nil
		me.resigned = me.resigned || reason.Is(err, barriers.ErrNotLeft)
		if within.Err() == context.DeadlineExceeded {
			return nil // that is the reason, and not what the search does
		}
		return err
	})
	if err != nil && !reason.Is(err, barriers.ErrNotLeft) && !reason.Is(err, framework.ErrSessionLost) && !isEnd(me.actor, err) {
		m.world.Fail("%s: leave ends with %v", me.actor.Name(), err)
	}
}

// In Curator's layout, two leave who do not wait for each other. The last one
// closes the barrier.
func TestDoubleBarrierInCuratorsLayoutWhoseMembersDoNotWait(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		w.Node("/barrier", "")
		w.Stays("/barrier/ready")
		m := &meeting{world: w, n: 2, opts: []barriers.Option{barriers.WithCuratorLayout()}}
		w.Always(func(tree explore.Tree) error { return checkRounds(m.members, tree) })
		for i, name := range names(2) {
			w.Actor(name, func(a *explore.Actor) {
				if me := m.enter(a); me != nil {
					time.Sleep(time.Duration(i+1) * time.Second)
					m.leaveWithin(me, 0)
				}
			})
		}
		w.AtEnd(func(tree explore.Tree) error {
			if _, open := tree["/barrier/ready"]; open && len(m.members) == 2 && m.inPeace() {
				return errors.New("all have left, and the barrier is open")
			}
			return nil
		})
	}, quick())
}

// Three are inside. One of them is lost while another one leaves, and gives that
// up. The third one is told of the loss.
func TestDoubleBarrierThatLosesAMemberBesideOneThatLeaves(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		w.Node("/barrier", "")
		m := &meeting{world: w, n: 3}
		w.Always(func(tree explore.Tree) error { return checkRounds(m.members, tree) })
		wasLost := false
		inside := func(name string, do func(a *explore.Actor, me *member)) {
			w.Actor(name, func(a *explore.Actor) {
				if me := m.enter(a); me != nil {
					do(a, me)
					m.leave(me)
				}
			})
		}
		inside("A", func(a *explore.Actor, me *member) {
			time.Sleep(10 * time.Second)
			var told *barriers.MemberLostError
			if wasLost && !a.Disturbed() && !errors.As(context.Cause(me.passage.Context()), &told) {
				w.Fail("A works on, and C was lost")
			}
		})
		inside("B", func(a *explore.Actor, me *member) {
			time.Sleep(time.Second / 2)
			m.leaveWithin(me, time.Second)
		})
		inside("C", func(a *explore.Actor, me *member) {
			time.Sleep(time.Second)
			wasLost = me.inside()
			a.Expire()
		})
		w.AtEnd(nothingBelow("/barrier"))
	}, quick())
}
