package scenarios

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/testing/zktest"
)

// patient is a health check whose verdicts are known.
type patient struct {
	sick   atomic.Bool
	drains atomic.Bool // the node says so, until the check passes again
}

func (p *patient) check(context.Context) error {
	time.Sleep(100 * time.Millisecond)
	if p.sick.Load() {
		return errors.New("sick")
	}
	return nil
}

// turn has the instance become sick or well. It may drain or not until it does what
// the check says.
func (p *patient) turn(sick bool) {
	p.drains.Store(false)
	p.sick.Store(sick)
}

// everySecond turns the instance after two checks that say the opposite.
func (p *patient) everySecond() discovery.RegistrationOption {
	return discovery.WithHealthCheck(discovery.HealthCheck{
		Check: p.check, Interval: time.Second, Timeout: time.Second, Failures: 2, Passes: 2,
	})
}

// follow checks that an instance that drains does so until its check passes, also
// when its node is new.
func (p *patient) follow(tree explore.Tree) error {
	for id, text := range listingOf(tree).instances {
		if p.drains.Load() && text != said(draining(id, 1)) && text != said(draining(id, 2)) {
			return fmt.Errorf("the node of %s says %q, and its check has not passed", id, text)
		}
	}
	return nil
}

func draining(id string, port int) discovery.Instance {
	i := order(id, port)
	i.Disabled = true
	return i
}

// becomes waits until the node of a says what an instance does. Without an answer
// for long it fails, unless the client is closed.
func becomes(w *explore.World, a *explore.Actor, all *listings, want discovery.Instance) {
	for range 100 {
		if a.Closed() {
			return
		}
		if all.at(math.MaxInt64).instances[want.ID] == said(want) {
			return
		}
		time.Sleep(time.Second)
	}
	w.Fail("the node does not become %q", said(want))
}

// instanceThatFails has an actor whose instance fails its health check until it
// passes, fails again, is updated meanwhile, and passes again.
func instanceThatFails(before, own trouble) explore.Scenario {
	return func(w *explore.World) {
		all, p := follow(w), &patient{}
		w.Always(p.follow)
		done := make(chan struct{})
		w.Actor("A", func(a *explore.Actor) {
			defer close(done)
			before(a)
			p.sick.Store(true)
			p.drains.Store(true)
			r := all.register(w, a, order("a", 1), p.everySecond())
			if r == nil {
				return
			}
			becomes(w, a, all, draining("a", 1))
			p.turn(false)
			becomes(w, a, all, order("a", 1))
			p.turn(true)
			own(a)
			becomes(w, a, all, draining("a", 1))
			p.drains.Store(true)
			_ = a.Call("update", func(ctx context.Context) error { return r.Update(ctx, order("a", 2)) })
			becomes(w, a, all, draining("a", 2))
			p.turn(false)
			becomes(w, a, all, order("a", 2))
			if a.Call("shut down", r.Shutdown) == nil {
				<-r.Done()
			}
		})
		w.Actor("B", func(a *explore.Actor) {
			_ = all.find(w, a)
			<-done
		})
		w.AtEnd(nothingBelow(orders))
	}
}

func TestInstanceThatFailsItsHealthCheck(t *testing.T) {
	for _, c := range []struct {
		name        string
		before, own trouble
	}{
		{"in peace", none, none},
		{"cut", none, cut},
		{"lost", none, loss},
		{"expired", none, expired},
		{"late create", late(zktest.OpCreate), none},
		{"late update", none, late(zktest.OpSetData)},
		{"lost reply to its update", none, meets(zktest.OpSetData, zktest.DropReply())},
	} {
		t.Run(c.name, func(t *testing.T) { explore.Search(t, instanceThatFails(c.before, c.own), quick()) })
	}
}
