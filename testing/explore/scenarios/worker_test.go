package scenarios

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/explore"
	"github.com/gocurator/curator/testing/zktest"
)

// workers lead by WaitLeadership, as many as need be until they have worked for
// five seconds.
type workers struct {
	*office

	mu      sync.Mutex
	led     map[int64][]int64            // nodes of leaders, by their session
	gone    []int64                      // nodes that a Shutdown has told as gone
	standby map[*explore.Actor]time.Time // who stands, and when it was well
}

func newWorkers(w *explore.World, policy state.ErrorPolicy) *workers {
	w.ClientOptions(framework.WithErrorPolicy(policy))
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
	const bound = 3 * time.Second
	for a, since := range ws.standby {
		switch {
		case a.Closed() || !a.Client().State().IsConnected() || owners[a.Client().SessionID()]:
			ws.standby[a] = time.Now()
		case time.Since(since) > bound && ws.world.Quiet() > 2*bound:
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
	for left := 5 * time.Second; left > 0; {
		var lease *locks.Lease
		if a.Call("wait", func(ctx context.Context) (err error) {
			lease, err = latch.WaitLeadership(ctx)
			return err
		}) != nil {
			break
		}
		begun := time.Now()
		ws.works(a, latch, lease, left)
		left -= max(time.Since(begun), time.Millisecond)
	}
	ws.stands(a, false)
	ws.leaves(a, latch)
}

// works works for a while. The work goes on a little when it is told to stop.
// Until then, nobody else works, and its own latch does not lead again.
func (ws *workers) works(a *explore.Actor, latch *leader.Latch, lease *locks.Lease, d time.Duration) {
	defer ws.working.Enter(a, context.Background(), 0)()
	expiries := a.Expiries()
	ws.noteLead(a, lease)
	if own := ws.trouble; own != nil && a.Name() == "A" {
		ws.trouble = nil
		own(a)
	}
	pass(lease.Context(), d)
	if lease.Context().Err() != nil {
		time.Sleep(stops)
		if latch.Leadership() != nil && a.Expiries() == expiries {
			ws.world.Fail("%s leads again, and its work has not stopped", a.Name())
		}
	}
	checkLoss(ws.world, a, lease, framework.ErrSuspended)
}

// noteLead notes the node of a leader.
func (ws *workers) noteLead(a *explore.Actor, lease *locks.Lease) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	session := a.Client().SessionID()
	ws.led[session] = append(ws.led[session], lease.FencingToken())
}

// leaves shuts the latch down twice at once. A Shutdown that returns without an
// error has seen that the nodes with which it has led in this session are gone.
func (ws *workers) leaves(a *explore.Actor, latch *leader.Latch) {
	var both sync.WaitGroup
	for _, what := range []string{"shutdown", "shutdown again"} {
		both.Go(func() {
			ws.mu.Lock()
			session := a.Client().SessionID()
			nodes := slices.Clone(ws.led[session])
			ws.mu.Unlock()
			err := a.Call(what, latch.Shutdown)
			ws.mu.Lock()
			defer ws.mu.Unlock()
			if err == nil && session == a.Client().SessionID() && !a.Closed() {
				ws.gone = append(ws.gone, nodes...)
			}
		})
	}
	both.Wait()
}

// Each leads as often as it takes, and its work takes its time to stop.
func TestLatchOfWorkers(t *testing.T) {
	for _, c := range []struct {
		name   string
		own    trouble
		policy state.ErrorPolicy
	}{
		{"in peace", none, state.SessionPolicy},
		{"interrupted", cut, state.StandardPolicy},
		{"interrupted and lost", moved, state.StandardPolicy},
		{"lost early", moved, state.SessionPolicy},
		{"given up", givenUp, state.SessionPolicy},
		{"whose deletion is not answered", meets(zktest.OpDelete, zktest.DropReply()), state.SessionPolicy},
		{"whose deletion is lost", meets(zktest.OpDelete, zktest.DropRequest()), state.SessionPolicy},
	} {
		t.Run(c.name, func(t *testing.T) {
			explore.Search(t, func(w *explore.World) {
				ws := newWorkers(w, c.policy)
				ws.trouble = c.own
				w.Actor("A", ws.worker)
				w.Actor("B", ws.worker)
			}, quick())
		})
	}
}
