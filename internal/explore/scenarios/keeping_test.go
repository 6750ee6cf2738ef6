package scenarios

import (
	"fmt"
	"sync"
	"time"

	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// keeping watches the nodes of a cached lock. One stays without a holder for no
// longer than its options say, and goes at once if others want the lock.
type keeping struct {
	world *explore.World

	mu     sync.Mutex
	behind map[string]time.Time // since when a node is behind that of another session
	waited map[string]bool      // a node that had to wait
	nodes  map[string]*keptNode // of those that have had the lock
}

type keptNode struct {
	grants   int       // acquires that have got it
	holders  int       // of now
	released time.Time // by the last holder
	until    time.Time // it may stay until then without a holder
	wanted   time.Time // since when somebody else is behind it
	asked    bool      // somebody has asked for it
	goes     bool      // it goes with its release
}

func watchKeeping(w *explore.World) *keeping {
	k := &keeping{world: w, behind: map[string]time.Time{}, waited: map[string]bool{}, nodes: map[string]*keptNode{}}
	w.Always(k.check)
	return k
}

// check is about what has been so for longer than an outage that a client has to
// notice by itself, and a session that it has lost.
func (k *keeping) check(tree explore.Tree) error {
	const bound = 8 * time.Second
	k.mu.Lock()
	defer k.mu.Unlock()
	all := below(tree, "/lock")
	for _, n := range all {
		k.noteLocked(n, all)
		kept := k.nodes[n.Path]
		if kept == nil || kept.holders > 0 {
			continue
		}
		until := kept.until
		if !kept.wanted.IsZero() && kept.wanted.Before(until) {
			until = kept.wanted
		}
		if min(time.Since(until), time.Since(kept.released), k.world.Quiet()) > bound {
			return fmt.Errorf("the idle node %s stays", n.Path)
		}
	}
	return nil
}

// noteLocked notes who is before and behind a node.
func (k *keeping) noteLocked(n zktest.Node, all []zktest.Node) {
	isWanted := false
	defer func() {
		switch kept := k.nodes[n.Path]; {
		case kept == nil:
		case !isWanted:
			kept.wanted = time.Time{}
		case kept.wanted.IsZero():
			kept.wanted = time.Now()
		}
	}()
	for _, o := range all {
		switch {
		case o.Stat.EphemeralOwner == n.Stat.EphemeralOwner:
		case sequenceOf(o.Path) > sequenceOf(n.Path):
			isWanted = true
		case k.behind[n.Path].IsZero():
			k.behind[n.Path] = time.Now()
		case time.Since(k.behind[n.Path]) > time.Second && k.world.Quiet() > time.Second:
			k.waited[n.Path] = true
		}
	}
}

// granted notes that an acquire has got the lock, with or without a request. There
// are at most as many of the latter as uses, and none if others want the lock.
func (k *keeping) granted(a *explore.Actor, lease *locks.Lease, uses int) *keptNode {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := k.nodes[lease.Path()]
	if n == nil {
		n = &keptNode{}
		k.nodes[lease.Path()] = n
	}
	const bound = 2 * time.Second
	if n.grants > 0 && !n.wanted.IsZero() && time.Since(n.wanted) > bound && k.world.Quiet() > bound && !a.Disturbed() {
		k.world.Fail("%s has the lock again, though others wait for it", a.Name())
	}
	if n.goes {
		k.world.Fail("%s has the lock again, though it had to go with its release", a.Name())
	}
	n.grants++
	n.holders++
	if n.grants > uses+1 {
		k.world.Fail("%s has the lock for the %dth time without a request", a.Name(), n.grants-1)
	}
	return n
}

// releases notes that a holder is about to give the lock back, which may stay for
// some time, unless its node had to wait, or there is no connection.
func (k *keeping) releases(a *explore.Actor, lease *locks.Lease, n *keptNode, idle time.Duration) {
	connected := a.Client().State().IsConnected()
	k.mu.Lock()
	defer k.mu.Unlock()
	n.holders--
	n.released, n.until = time.Now(), time.Now()
	n.goes = !connected || k.waited[lease.Path()] && n.grants == 1 && !a.Disturbed()
	if !n.goes && !n.asked {
		n.until = n.until.Add(idle)
	}
}
