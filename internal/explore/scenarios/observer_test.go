package scenarios

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// observed has an observer, who is there before the path is, and a candidate who
// leads until everything is quiet. In the end the observer knows who leads.
func observed(own trouble) explore.Scenario {
	return func(w *explore.World) {
		w.Stays("/leader") // the latch
		var heard []locks.Participant
		var latch *leader.Latch
		observing, stop := context.WithCancel(context.Background())
		var observer, candidate *explore.Actor
		w.Always(func(explore.Tree) error {
			if observer == nil {
				return nil
			}
			if all := framework.Extend(observer.Client()).Status().Watches; len(all) > 1 {
				return fmt.Errorf("the observer has more than one watch: %+v", all)
			}
			return nil
		})
		w.Actor("O", func(a *explore.Actor) {
			observer = a
			go func() {
				for now, err := range leader.Observe(observing, a.Client(), "/leader") {
					if err == nil {
						heard = append(heard, now)
					}
				}
			}()
			a.Pause("begins")
			own(a)
			time.Sleep(10 * time.Second)
		})
		w.Actor("A", func(a *explore.Actor) {
			candidate = a
			for range 2 { // leads, leaves, and leads again
				if latch != nil {
					shutdown(w, a, latch)
				}
				var err error
				if latch, err = leader.NewLatch(a.Client(), "/leader", leader.WithID(a.Name())); err != nil {
					refuse(w, a, err)
					return
				}
				_ = a.Call("wait", func(ctx context.Context) error {
					_, err := latch.WaitLeadership(ctx)
					return err
				})
			}
		})
		w.AtEnd(func(tree explore.Tree) error {
			defer stop() // now the observer may leave nothing behind
			if observer.Closed() || candidate.Closed() || latch == nil {
				return nil
			}
			lease := latch.Leadership()
			if lease == nil || len(heard) == 0 || heard[len(heard)-1].Token != lease.FencingToken() {
				return fmt.Errorf("the observer has heard of %+v, and %v leads", heard, lease)
			}
			for i, now := range heard[1:] {
				if now.Path != "" && now.Token == heard[i].Token {
					return fmt.Errorf("the observer has heard twice of %+v", now)
				}
			}
			return nil
		})
		w.AtEnd(func(explore.Tree) error {
			if latch == nil || candidate.Closed() {
				return nil
			}
			return latch.Shutdown(context.Background())
		})
	}
}

func TestObserver(t *testing.T) { explore.Search(t, observed(none), quick()) }

func TestObserverAfterALoss(t *testing.T) { explore.Search(t, observed(loss), quick()) }
