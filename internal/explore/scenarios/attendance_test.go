package scenarios

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// attendance is who waits for a lock, and who has it.
type attendance struct {
	world *explore.World
	path  string
	bound time.Duration // somebody may wait behind nobody for so long

	mu      sync.Mutex
	waiting []*explore.Actor // once for each goroutine
	leases  []*locks.Lease   // until they are released
	idle    time.Time        // since when they wait for nobody; zero if that is not so
	nodes   int              // at the last look, without one node of those who wait
	sizes   []size
}

// size is how many want the lock or have it at some time, in the queue or in a
// process. A node that a lost session has left is in the queue, too.
type size struct {
	at time.Time
	n  int
}

// watchAttendance sees that nobody waits for long behind nobody.
func watchAttendance(w *explore.World, path string) *attendance {
	at := &attendance{world: w, path: path, bound: 5 * time.Second}
	w.Always(at.check)
	return at
}

// take is take of somebody who waits.
func (at *attendance) take(a *explore.Actor, what string, acquire acquiring) *locks.Lease {
	at.mu.Lock()
	at.waiting = append(at.waiting, a)
	at.noteLocked()
	at.mu.Unlock()
	lease, _ := take(at.world, a, what, acquire)
	at.mu.Lock()
	defer at.mu.Unlock()
	i := slices.Index(at.waiting, a)
	at.waiting = slices.Delete(at.waiting, i, i+1)
	if lease != nil {
		at.leases = append(at.leases, lease)
	}
	return lease
}

func (at *attendance) give(a *explore.Actor, lease *locks.Lease) {
	give(at.world, a, lease)
	at.released(lease)
}

// released notes that a lease was released.
func (at *attendance) released(lease *locks.Lease) {
	at.mu.Lock()
	defer at.mu.Unlock()
	at.leases = slices.DeleteFunc(at.leases, func(l *locks.Lease) bool { return l == lease })
}

// check fails when somebody waits behind nobody for longer than an outage that the
// client has to notice by itself.
func (at *attendance) check(tree explore.Tree) error {
	at.mu.Lock()
	defer at.mu.Unlock()
	at.nodes = at.othersLocked(tree)
	at.noteLocked()
	switch {
	case !at.waitForNobodyLocked(tree):
		at.idle = time.Time{}
	case at.idle.IsZero():
		at.idle = time.Now()
	case min(time.Since(at.idle), at.world.Quiet()) > at.bound:
		return fmt.Errorf("%s waits behind nobody", at.waiting[0].Name())
	}
	return nil
}

// waitForNobodyLocked reports whether some wait that are connected, nobody has a
// lease that is alive, and there are no nodes but of those who wait.
func (at *attendance) waitForNobodyLocked(tree explore.Tree) bool {
	has := func(l *locks.Lease) bool { return l.Context().Err() == nil }
	if len(at.waiting) == 0 || slices.ContainsFunc(at.leases, has) {
		return false
	}
	var sessions []int64
	for _, a := range at.waiting {
		if a.Closed() || !a.Client().State().IsConnected() || a.HasExpired(a.Client().SessionID()) {
			return false
		}
		sessions = append(sessions, a.Client().SessionID())
	}
	for _, n := range below(tree, at.path) {
		if !slices.Contains(sessions, n.Stat.EphemeralOwner) {
			return false
		}
	}
	return true
}

// othersLocked returns how many nodes there are, without one node of those who wait
// or have the lock, which they share.
func (at *attendance) othersLocked(tree explore.Tree) int {
	nodes := below(tree, at.path)
	if slices.ContainsFunc(nodes, func(n zktest.Node) bool {
		return slices.ContainsFunc(at.waiting, func(a *explore.Actor) bool { return a.Client().SessionID() == n.Stat.EphemeralOwner })
	}) {
		return len(nodes) - 1
	}
	return len(nodes)
}

// noteLocked notes how many want the lock now.
func (at *attendance) noteLocked() {
	at.sizes = append(at.sizes, size{time.Now(), at.nodes + len(at.waiting) + len(at.leases)})
}
