package scenarios

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/recipes/locks"
)

// rooms are each protected by a separate lock.
type rooms struct {
	world *explore.World
	paths []string
	rooms []*explore.Section
}

func newRooms(w *explore.World, paths ...string) *rooms {
	r := &rooms{world: w, paths: paths}
	for _, path := range paths {
		w.Node(path, "")
		r.rooms = append(r.rooms, w.Section("room "+path, 1))
	}
	return r
}

// visitor locks some of the rooms, one after the other, and works in all of them.
func (r *rooms) visitor(which ...int) func(*explore.Actor) {
	return func(a *explore.Actor) {
		var paths []string
		for _, i := range which {
			paths = append(paths, r.paths[i])
		}
		lock := locks.NewInterProcessMultiLock(locks.SortedMutexes(a.Client(), paths)...)
		lease, _ := take(r.world, a, "acquire", func(ctx context.Context) (*locks.Lease, error) {
			lease, err := lock.Acquire(ctx)
			if err != nil && ctx.Err() == nil && !isEnd(a, err) {
				r.world.Fail("%s fails though its caller waits: %v", a.Name(), err)
			}
			return lease, err
		})
		if lease == nil {
			return
		}
		r.work(a, lease, which)
		give(r.world, a, lease)
	}
}

func (r *rooms) work(a *explore.Actor, lease *locks.Lease, which []int) {
	for i, of := range lease.Leases() {
		defer r.rooms[which[i]].Enter(a, lease.Context(), of.FencingToken())()
	}
	pass(lease.Context(), 3*time.Second)
	checkLoss(r.world, a, lease)
	if context.Cause(lease.Context()) == nil {
		for _, of := range lease.Leases() {
			if cause := context.Cause(of.Context()); cause != nil {
				r.world.Fail("%s has all locks, and has lost one: %v", a.Name(), cause)
			}
		}
	}
}

// Both want both rooms.
func TestMultiLockOfTwo(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		r := newRooms(w, "/1", "/2")
		w.Actor("A", r.visitor(0, 1))
		w.Actor("B", r.visitor(0, 1))
	}, quick())
}

// One has the second room, for which another waits with the first, for which a
// third waits.
func TestMultiLockOfThree(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		r := newRooms(w, "/1", "/2")
		w.Actor("A", r.visitor(1))
		w.Actor("B", r.visitor(0, 1))
		w.Actor("C", r.visitor(0))
	}, quick())
}

// vacated are the nodes that somebody deletes, which make nobody a holder.
type vacated struct {
	world *explore.World

	mu   sync.Mutex
	tree explore.Tree // at the last look
	gone map[string]time.Time
}

func watchVacated(w *explore.World) *vacated {
	v := &vacated{world: w, gone: map[string]time.Time{}}
	w.Always(func(tree explore.Tree) error {
		v.mu.Lock()
		defer v.mu.Unlock()
		for path := range v.tree {
			if _, there := tree[path]; !there {
				v.gone[path] = time.Now()
			}
		}
		v.tree = tree
		return nil
	})
	return v
}

// granted looks whether a lease has nodes that have been gone for long. A holder
// watches its node only when it has had the lock for a second.
func (v *vacated) granted(a *explore.Actor, lease *locks.Lease) {
	const bound = 3 * time.Second
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, of := range lease.Leases() {
		at, gone := v.gone[of.Path()]
		if gone && !a.Disturbed() && of.Context().Err() == nil && min(time.Since(at), v.world.Quiet()) > bound {
			v.world.Fail("%s has a lock by %s, which is gone", a.Name(), of.Path())
		}
	}
}

// deletedRooms has a visitor of three rooms, who waits for one of them. An operator
// deletes the node in the queue of another one.
func deletedRooms(of func(*framework.Client) locks.Locker, taken, operated string) explore.Scenario {
	return func(w *explore.World) {
		for _, path := range three {
			w.Node(path, "")
		}
		v := watchVacated(w)
		visit := func(a *explore.Actor, lock locks.Locker) {
			lease, _ := take(w, a, "acquire", lock.Acquire)
			if lease == nil {
				return
			}
			v.granted(a, lease)
			pass(lease.Context(), 3*time.Second)
			checkLoss(w, a, lease, locks.ErrNodeDeleted)
			give(w, a, lease)
		}
		w.Actor("B", func(a *explore.Actor) { visit(a, locks.NewInterProcessMutex(a.Client(), taken)) })
		w.Actor("A", func(a *explore.Actor) {
			time.Sleep(200 * time.Millisecond)
			visit(a, of(a.Client()))
		})
		w.Actor("O", func(a *explore.Actor) {
			time.Sleep(time.Second)
			deleteBelow(a, operated)
		})
	}
}

var three = []string{"/1", "/2", "/3"}

func TestMultiLockWhoseNodesAreDeleted(t *testing.T) {
	inOrder := func(c *framework.Client) locks.Locker {
		return locks.NewInterProcessMultiLock(locks.SortedMutexes(c, three)...)
	}
	explore.Search(t, deletedRooms(inOrder, "/3", "/1"), quick())
}
