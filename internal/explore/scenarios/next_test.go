package scenarios

import (
	"context"
	"path"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/recipes/locks"
)

// queueOfTwo is a lock that A holds and B waits for. An operator deletes B's node
// while A's is there, so that the node is never a holder's.
type queueOfTwo struct {
	world   *explore.World
	inside  *explore.Section
	waiter  *explore.Actor  // nil until it plays
	held    map[string]bool // the nodes of all leases
	deleted map[string]bool // the nodes that were deleted for sure
}

func newQueueOfTwo(w *explore.World) *queueOfTwo {
	w.Node("/lock", "")
	q := &queueOfTwo{w, w.Section("the lock", 1), nil, map[string]bool{}, map[string]bool{}}
	w.AtEnd(func(explore.Tree) error {
		for node := range q.deleted {
			if q.held[node] {
				w.Fail("somebody held the lock by %s, which was deleted before", node)
			}
		}
		return nil
	})
	return q
}

// next comes when the holder has come.
func (q *queueOfTwo) next(a *explore.Actor) {
	q.waiter = a
	time.Sleep(time.Second)
	q.holder(a)
}

func (q *queueOfTwo) holder(a *explore.Actor) {
	lease, _ := take(q.world, a, "acquire", locks.NewInterProcessMutex(a.Client(), "/lock").Acquire)
	if lease == nil {
		return
	}
	q.held[lease.Path()] = true
	leave := q.inside.Enter(a, lease.Context(), lease.FencingToken())
	pass(lease.Context(), 3*time.Second)
	leave()
	give(q.world, a, lease)
}

// operator deletes the waiter's node, and cuts the waiter off just before or just after
// that, so that the waiter learns of both deletions at once.
func (q *queueOfTwo) operator(a *explore.Actor, before, after trouble) {
	time.Sleep(2 * time.Second)
	var names []string
	_ = a.Call("look", func(ctx context.Context) (err error) {
		names, _, err = a.Client().Children(ctx, "/lock")
		return err
	})
	if len(names) != 2 || q.waiter == nil {
		return
	}
	first, second := names[0], names[1]
	if sequenceOf(first) > sequenceOf(second) {
		first, second = second, first
	}
	before(q.waiter)
	node := path.Join("/lock", second)
	err := a.Call("delete", func(ctx context.Context) error {
		_, err := a.Client().Transaction(ctx, framework.CheckOp(path.Join("/lock", first), framework.AnyVersion),
			framework.DeleteOp(node, framework.AnyVersion))
		return err
	})
	if err == nil {
		q.deleted[node] = true
	}
	after(q.waiter)
}

// sequenceOf returns the number at the end of a contender's name.
func sequenceOf(name string) string { return name[len(name)-len("0000000000"):] }

func deletedWaiter(before, after trouble) explore.Scenario {
	return func(w *explore.World) {
		q := newQueueOfTwo(w)
		w.Actor("A", q.holder)
		w.Actor("B", q.next)
		w.Actor("C", func(a *explore.Actor) { q.operator(a, before, after) })
	}
}

// The next in line takes the lock on the event of the release. It has no place in
// the queue any more if its own node is gone, whatever it is told first.
func TestNextInLineWhoseNodeIsDeleted(t *testing.T) {
	explore.Search(t, deletedWaiter(none, none), quick())
}

func TestNextInLineWhoseNodeIsDeletedBeforeACut(t *testing.T) {
	explore.Search(t, deletedWaiter(none, cut), quick())
}

func TestNextInLineWhoseNodeIsDeletedDuringACut(t *testing.T) {
	explore.Search(t, deletedWaiter(cut, none), quick())
}
