package scenarios

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/recipes/barriers"
	"github.com/gocurator/curator/testing/zktest"
)

// What a crash has left lets nobody pass: two of three wait for the third, who
// comes later.
func TestDoubleBarrierOfThreeBehindACrash(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		at := []time.Duration{0, 0, 10 * time.Second}
		meeting{trouble: none, n: 3, at: at, opts: []barriers.Option{barriers.WithCuratorLayout()}}.of(3, 1)(w)
		w.Node("/barrier/ready", "")
	}, quick())
}

// One gives its Enter up while others open the barrier with it. Those are enough
// to open it without the one that has gone, and do so. The requests of as many of
// them take their time.
func TestDoubleBarrierWhoseMemberGivesUpDuringItsOpening(t *testing.T) {
	for slow := range 3 {
		t.Run(fmt.Sprint(slow, " are slow"), func(t *testing.T) { explore.Search(t, givesUpEntering(slow), brief()) })
	}
}

func givesUpEntering(slow int) explore.Scenario {
	return func(w *explore.World) {
		w.Node("/barrier", "")
		m := &meeting{world: w, trouble: none, n: 2}
		w.Always(func(tree explore.Tree) error { return checkRounds(m.members, tree) })
		w.Actor("A", func(a *explore.Actor) { m.entersWithin(a, 1500*time.Millisecond) })
		for i, name := range []string{"B", "C"} {
			w.Actor(name, func(a *explore.Actor) {
				time.Sleep(time.Second)
				if i < slow {
					a.Meets(zktest.OpMulti, zktest.DelayRequest(time.Second))
				}
				m.join(a)
			})
		}
		w.AtEnd(nothingBelow("/barrier"))
	}
}

// entersWithin enters and leaves at once, or gives up after some time.
func (m *meeting) entersWithin(a *explore.Actor, d time.Duration) {
	barrier := barriers.NewDoubleBarrier(a.Client(), "/barrier", m.n, m.opts...)
	m.present++
	m.most = max(m.most, m.present)
	defer func() { m.present-- }()
	var me *member
	_ = a.CallWithin("enter within "+d.String(), sayGoodbye, func(ctx context.Context) error {
		within, cancel := context.WithTimeout(ctx, d)
		defer cancel()
		p, err := barrier.Enter(within)
		if err == nil {
			me = &member{actor: a, passage: p, session: a.Client().SessionID()}
			m.members = append(m.members, me)
		}
		if within.Err() == context.DeadlineExceeded {
			return nil // that is the reason, and not what the search does
		}
		return err
	})
	if me != nil {
		m.leave(me)
		return
	}
	m.gaveUp = append(m.gaveUp, time.Now())
}
