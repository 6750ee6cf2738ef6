package scenarios

import (
	"context"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/explore"
	"github.com/gocurator/curator/testing/zktest"
)

// rooms are each protected by a lock of its own.
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
	return r.visit(func(c *framework.Client, paths []string) locks.Locker {
		return locks.NewInterProcessMultiLock(locks.SortedMutexes(c, paths)...)
	}, which)
}

// atOnce locks some of the rooms by one transaction, and works in all of them.
func (r *rooms) atOnce(which ...int) func(*explore.Actor) {
	return r.visit(func(c *framework.Client, paths []string) locks.Locker {
		return locks.NewAtomicMultiLock(c, paths)
	}, which)
}

func (r *rooms) visit(of func(c *framework.Client, paths []string) locks.Locker, which []int) func(*explore.Actor) {
	return func(a *explore.Actor) {
		var paths []string
		for _, i := range which {
			paths = append(paths, r.paths[i])
		}
		lock := of(a.Client(), paths)
		lease, _ := take(r.world, a, "acquire", lock.Acquire)
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

// Two want both rooms, and name them in opposite orders. Another wants one.
func crossing(w *explore.World) {
	r := newRooms(w, "/1", "/2")
	w.Actor("A", r.atOnce(0, 1))
	w.Actor("B", r.atOnce(1, 0))
	w.Actor("C", r.visitor(1))
}

func TestAtomicMultiLocks(t *testing.T) { explore.Search(t, crossing, quick()) }

// The first has some trouble with its transaction.
func TestAtomicMultiLocksInTrouble(t *testing.T) {
	for name, first := range map[string]trouble{
		"reply lost": meets(zktest.OpMulti, zktest.DropReply()), "request lost": meets(zktest.OpMulti, zktest.DropRequest()),
		"late": late(zktest.OpMulti), "session lost": loss,
	} {
		t.Run(name, func(t *testing.T) { explore.Search(t, startsWith(first, crossing), quick()) })
	}
}

// With several servers, an answer may be older than another one.
func TestAtomicMultiLocksInAnEnsemble(t *testing.T) {
	explore.Search(t, inEnsemble(crossing, 0, 50*time.Millisecond, 200*time.Millisecond), quick())
}
