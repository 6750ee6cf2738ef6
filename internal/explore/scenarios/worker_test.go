package scenarios

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// workers lead by WaitLeadership, as many as need be until they have worked for
// five seconds.
type workers struct {
	*office
	releases bool // whoever leaves releases its lease just before

	mu      sync.Mutex
	led     map[int64][]int64            // nodes of leaders, by their session
	gone    []int64                      // nodes that a Shutdown has told as gone
	standby map[*explore.Actor]time.Time // who stands, and when it was well
}

func newWorkers(w *explore.World, opts ...framework.Option) *workers {
	w.ClientOptions(opts...)
	ws := &workers{office: newOffice(w), led: map[int64][]int64{}, standby: map[*explore.Actor]time.Time{}}
	w.Always(ws.check)
	return ws
}

// check sees that a node that was told as gone is not there, and that everybody
// who stands has a node soon.
func (ws *workers) check(tree explore.Tree) error {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	owners := map[int64]bool{}
	for _, n := range below(tree, "/leader") {
		if slices.Contains(ws.gone, n.Stat.Czxid) {
			return fmt.Errorf("%s is there, and Shutdown has returned", n.Path)
		}
		owners[n.Stat.EphemeralOwner] = true
	}
	const bound = 2 * time.Second
	for a, since := range ws.standby {
		switch {
		case a.Closed() || !a.Client().State().IsConnected() || owners[a.Client().SessionID()]:
			ws.standby[a] = time.Now()
		case time.Since(since) > bound && ws.world.Quiet() > 3*bound:
			return fmt.Errorf("%s stands, and has no node", a.Name())
		}
	}
	return nil
}

// stands notes that a candidacy begins, or ends.
func (ws *workers) stands(a *explore.Actor, is bool) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if is {
		ws.standby[a] = time.Now()
	} else {
		delete(ws.standby, a)
	}
}

func (ws *workers) worker(a *explore.Actor) {
	latch, err := leader.NewLatch(a.Client(), "/leader", leader.WithID(a.Name()))
	if err != nil {
		refuse(ws.world, a, err)
		return
	}
	ws.stands(a, true)
	var last *locks.Lease
	for left := 5 * time.Second; left > 0; {
		var lease *locks.Lease
		if a.Call("wait", func(ctx context.Context) (err error) {
			lease, err = latch.WaitLeadership(ctx)
			return err
		}) != nil {
			break
		}
		last = lease
		left -= max(ws.works(a, latch, lease, left), time.Millisecond)
	}
	ws.stands(a, false)
	ws.leaves(a, latch, last)
}

// works works for a while, and returns for how long. The work goes on a little when
// it is told to stop. Until then, nobody else works, and its own latch does not lead
// again.
func (ws *workers) works(a *explore.Actor, latch *leader.Latch, lease *locks.Lease, d time.Duration) time.Duration {
	defer ws.working.Enter(a, context.Background(), 0)()
	expiries := a.Expiries()
	ws.noteLead(a, lease)
	if own := ws.trouble; own != nil && a.Name() == "A" {
		ws.trouble = nil
		pass(lease.Context(), ws.after)
		own(a)
	}
	begun := time.Now()
	pass(lease.Context(), d)
	if lease.Context().Err() != nil {
		time.Sleep(stops)
		if latch.Leadership() != nil && a.Expiries() == expiries {
			ws.world.Fail("%s leads again, and its work has not stopped", a.Name())
		}
	}
	checkLoss(ws.world, a, lease, framework.ErrSuspended)
	return time.Since(begun)
}

// noteLead notes the node of a leader.
func (ws *workers) noteLead(a *explore.Actor, lease *locks.Lease) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	session := a.Client().SessionID()
	ws.led[session] = append(ws.led[session], lease.FencingToken())
}

// leaves shuts the latch down twice at once, and then again. A Shutdown that
// returns without an error has seen that the nodes with which it has led in this
// session are gone.
func (ws *workers) leaves(a *explore.Actor, latch *leader.Latch, last *locks.Lease) {
	var all sync.WaitGroup
	if ws.releases && last != nil {
		all.Go(func() { _ = a.Call("release", last.Release) })
		a.Pause("leaves")
	}
	for _, what := range []string{"shutdown", "shutdown again"} {
		all.Go(func() { ws.shutsDown(a, what, latch) })
	}
	all.Wait()
	ws.shutsDown(a, "shutdown later", latch)
}

func (ws *workers) shutsDown(a *explore.Actor, what string, latch *leader.Latch) {
	ws.mu.Lock()
	session := a.Client().SessionID()
	nodes := slices.Clone(ws.led[session])
	ws.mu.Unlock()
	err := a.Call(what, func(ctx context.Context) error {
		err := latch.Shutdown(ctx)
		if errors.Is(err, context.Canceled) && ctx.Err() == nil && !a.Closed() {
			ws.world.Fail("%s: %s says that another context has ended: %v", a.Name(), what, err)
		}
		return err
	})
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if err == nil && session == a.Client().SessionID() && !a.Closed() {
		ws.gone = append(ws.gone, nodes...)
	}
}

// Each leads as often as it takes, and its work takes its time to stop.
func TestLatchOfWorkers(t *testing.T) {
	standard := framework.WithErrorPolicy(state.StandardPolicy)
	session := framework.WithErrorPolicy(state.SessionPolicy)
	refused := meets(zktest.OpCreate, zktest.Fail(zktest.ErrNoAuth))
	for _, c := range []struct {
		name string
		own  trouble
		opt  framework.Option
	}{
		{"in peace", none, session},
		{"interrupted", cut, standard},
		{"interrupted and lost", moved, standard},
		{"lost early", moved, session},
		{"lost early, and refused then", both(refused, moved), session},
		{"given up", givenUp, session},
		{"whose deletion is not answered", meets(zktest.OpDelete, zktest.DropReply()), session},
		{"whose deletion is lost", meets(zktest.OpDelete, zktest.DropRequest()), session},
	} {
		t.Run(c.name, func(t *testing.T) {
			explore.Search(t, workplace(c.own, c.opt), quick())
		})
	}
}

func workplace(own trouble, opts ...framework.Option) explore.Scenario {
	return func(w *explore.World) {
		ws := newWorkers(w, opts...)
		ws.trouble = own
		w.Actor("A", ws.worker)
		w.Actor("B", ws.worker)
	}
}

// A candidate loses its session again and again, and leaves without a connection. It
// waits for no node of a session that is over.
func TestLatchThatLeavesWithoutAConnection(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		const wait = time.Second
		w.Node("/leader", "")
		w.ClientOptions(framework.WithSafetyMargin(0.5), framework.WithConnectionTimeout(wait))
		left := make(chan struct{})
		candidacy := func(a *explore.Actor, stands func()) {
			latch, err := leader.NewLatch(a.Client(), "/leader")
			if err != nil {
				refuse(w, a, err)
				return
			}
			stands()
			lost, begun := a.Client().SessionID() == 0, time.Now()
			shutdown(w, a, latch)
			if took := time.Since(begun); lost && a.Client().SessionID() == 0 && took > 2*wait {
				w.Fail("%s has waited for %v, and its session was lost", a.Name(), took)
			}
		}
		w.Actor("A", func(a *explore.Actor) { candidacy(a, func() { <-left }) })
		w.Actor("B", func(a *explore.Actor) {
			defer close(left)
			time.Sleep(time.Second)
			candidacy(a, func() {
				for range 3 {
					time.Sleep(15 * time.Second)
					states := a.Client().States(context.Background())
					loss(a)
					for s := range states {
						if s == state.Lost {
							break
						}
					}
				}
			})
		})
	}, quick())
}
