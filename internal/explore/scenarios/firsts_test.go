package scenarios

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// firsts sees that nobody has a lock whose node was never the first in the queue. A
// node that the same client has released, or that its acquire has given up, is not in
// the way, though it may be there still, as recipes/locks promises.
// If an operator deletes nodes, somebody may have the lock for a moment, until the
// client learns that its own node is gone, too. The servers report the two deletions
// one after the other, and the client reads its node after the second report: the search
// may hold back each of these messages.
type firsts struct {
	world    *explore.World
	operated bool

	mu      sync.Mutex
	was     map[string]bool // nodes that were first
	gaveUp  map[int64]bool  // sessions of which an acquire has been given up
	granted []granted
	since   time.Time // when its client was last not informed of a wrong one; zero if none is wrong
}

type granted struct {
	to    *explore.Actor
	lease *locks.Lease
}

func watchFirsts(w *explore.World, operated bool) *firsts {
	f := &firsts{world: w, operated: operated, was: map[string]bool{}, gaveUp: map[int64]bool{}}
	w.Always(f.check)
	return f
}

func (f *firsts) note(to *explore.Actor, lease *locks.Lease) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.granted = append(f.granted, granted{to, lease})
}

func (f *firsts) check(tree explore.Tree) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seeLocked(below(tree, "/lock"))
	wrong, informed := "", true
	for _, g := range f.granted {
		if g.lease.Context().Err() == nil && !f.was[g.lease.Path()] {
			wrong, informed = g.lease.Path(), !g.to.MessagePending()
		}
	}
	const bound = 500 * time.Millisecond
	switch {
	case wrong == "":
		f.since = time.Time{}
		return nil
	case f.since.IsZero() || !informed:
		f.since = time.Now()
	}
	if f.operated && (time.Since(f.since) < bound || f.world.Quiet() < bound) {
		return nil
	}
	return fmt.Errorf("somebody has the lock by %s, which was never the first", wrong)
}

// seeLocked notes who is first.
func (f *firsts) seeLocked(all []zktest.Node) {
	slices.SortFunc(all, func(a, b zktest.Node) int { return cmp.Compare(sequenceOf(a.Path), sequenceOf(b.Path)) })
	for i, n := range all {
		session := n.Stat.EphemeralOwner
		f.was[n.Path] = f.was[n.Path] || !slices.ContainsFunc(all[:i], func(o zktest.Node) bool {
			return o.Stat.EphemeralOwner != session || !f.isGivenUpLocked(o.Path, session)
		})
	}
}

// isGivenUpLocked reports whether a client may have given its node up: by a release, or
// before the client had the lock by that node.
func (f *firsts) isGivenUpLocked(path string, session int64) bool {
	for _, g := range f.granted {
		if g.lease.Path() == path {
			return errors.Is(context.Cause(g.lease.Context()), locks.ErrReleased)
		}
	}
	return f.gaveUp[session]
}

func (f *firsts) noteGivenUp(session int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gaveUp[session] = true
}

// visits takes the lock and works for a while. It comes some time after the others,
// and has so much time for the wait.
func (f *firsts) visits(after, patience time.Duration) func(a *explore.Actor) {
	return func(a *explore.Actor) {
		time.Sleep(after)
		lock := locks.NewInterProcessMutex(a.Client(), "/lock")
		lease, _ := take(f.world, a, "acquire", func(ctx context.Context) (*locks.Lease, error) {
			ctx, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			lease, err := lock.Acquire(ctx)
			if err != nil && ctx.Err() == nil && !isEnd(a, err) {
				f.world.Fail("%s fails before its time: %v", a.Name(), err)
			}
			return lease, err
		})
		if lease == nil {
			f.noteGivenUp(a.Client().SessionID())
			return
		}
		f.note(a, lease)
		pass(lease.Context(), 4*time.Second)
		if f.operated {
			checkLoss(f.world, a, lease, locks.ErrNodeDeleted)
		} else {
			checkLoss(f.world, a, lease)
		}
		give(f.world, a, lease)
	}
}

// inTurn is a lock that one has, and for which others wait, one of whom gives up.
func inTurn(w *explore.World) {
	w.Node("/lock", "")
	f := watchFirsts(w, false)
	w.Actor("A", f.visits(0, time.Minute))
	w.Actor("B", f.visits(200*time.Millisecond, 2*time.Second))
	w.Actor("C", f.visits(400*time.Millisecond, time.Minute))
}

func TestNextInLineBehindOneThatGivesUp(t *testing.T) { explore.Search(t, inTurn, quick()) }

// Two goroutines of a client are next to each other, and their session ends.
func TestNextInLineOfTheSameClient(t *testing.T) {
	for name, own := range map[string]trouble{
		"expired": expired, "lost": loss, "closed": closed, "expired at the release": expiresAt(zktest.OpDelete),
	} {
		t.Run(name, func(t *testing.T) { explore.Search(t, sameClient(own), brief()) })
	}
}

func sameClient(own trouble) explore.Scenario {
	return func(w *explore.World) {
		w.Node("/lock", "")
		f := watchFirsts(w, false)
		w.Actor("A", func(a *explore.Actor) {
			var all sync.WaitGroup
			defer all.Wait()
			for range 2 {
				a.Pause("brings another")
				all.Go(func() { f.visits(0, time.Minute)(a) })
			}
			time.Sleep(time.Second)
			own(a)
		})
		w.Actor("B", f.visits(500*time.Millisecond, time.Minute))
	}
}

// An operator deletes the nodes of the one who has the lock and of the next, in one
// transaction.
func TestNextInLineThatIsDeletedWithTheHolder(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		w.Node("/lock", "")
		f := watchFirsts(w, true)
		w.Actor("A", f.visits(0, time.Minute))
		w.Actor("B", f.visits(200*time.Millisecond, time.Minute))
		w.Actor("C", func(a *explore.Actor) {
			time.Sleep(2 * time.Second)
			var ops []framework.TxnOp
			for _, name := range childrenOf(a, "/lock") {
				ops = append(ops, framework.DeleteOp("/lock/"+name, framework.AnyVersion))
			}
			_ = a.Call("delete", func(ctx context.Context) error {
				_, err := a.Client().Transaction(ctx, ops...)
				return err
			})
		})
	}, quick())
}
