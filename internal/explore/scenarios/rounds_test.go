package scenarios

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/barriers"
)

// One comes when a round is over, of which its server has not heard yet.
func TestDoubleBarrierBehindARound(t *testing.T) {
	for i, name := range names(3) {
		t.Run(name, func(t *testing.T) {
			at := make([]time.Duration, 3)
			at[i] = 1700 * time.Millisecond
			explore.Search(t, inEnsemble(meeting{trouble: none, n: 2, at: at}.of(3, 1), 0, time.Second), brief())
		})
	}
}

// A third member arrives when another member leaves, whose server has not received the
// new node yet. The member that had entered with the leaving member does not wait for
// anybody.
func TestDoubleBarrierThatIsLeftBehindAnArrival(t *testing.T) {
	explore.Search(t, inEnsemble(func(w *explore.World) {
		w.Node("/barrier", "")
		w.Stays("/barrier/ready")
		m := &meeting{world: w, mu: new(sync.Mutex), n: 2}
		w.Always(func(explore.Tree) error { return checkRounds(m.members) })
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
		if within.Err() == context.DeadlineExceeded {
			return nil // that is the reason, and not what the search does
		}
		return err
	})
	if err != nil && !reason.Is(err, barriers.ErrNotLeft) && !reason.Is(err, framework.ErrSessionLost) && !isEnd(me.actor, err) {
		m.world.Fail("%s: leave ends with %v", me.actor.Name(), err)
	}
}

// Two leave who do not wait for each other. The last one
// closes the barrier.
func TestDoubleBarrierWhoseMembersDoNotWait(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		w.Node("/barrier", "")
		w.Stays("/barrier/ready")
		m := &meeting{world: w, mu: new(sync.Mutex), n: 2}
		w.Always(func(explore.Tree) error { return checkRounds(m.members) })
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
