package inspect

import (
	"context"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/follow"
)

// Graph is the result of WaitGraph: who waits for whom.
type Graph struct {
	Waits     []Wait // one for each lock
	Deadlocks []Deadlock

	// Unreadable has the paths whose children the client may not list. The waits there
	// are not known.
	Unreadable []string
}

// Wait is a lock or a semaphore that participants wait for. Candidates of a leader
// latch make no Wait, because they wait for their whole life and do other work
// meanwhile.
type Wait struct {
	Path    string
	Kind    Kind
	MayBe   []Kind
	Waiters []Participant // ordered as in the queue

	// Holders must go first: all of them, or, if Any is set, at least one. Each waiter
	// waits for the holders only, because the waiters ahead wait for the same holders.
	// If the limit of a semaphore is known but not which of its leases are held,
	// Holders includes all leases that may be held.
	Holders []Participant
	Any     bool

	limitKnown bool
	layout     string
}

// waitOf returns who waits for whom at a recipe. It returns false if there are no
// waiters.
func waitOf(r Recipe) (w Wait, ok bool) {
	switch r.Kind {
	case Mutex, ReadWriteLock, Semaphore:
	default:
		return w, false
	}
	if r.Limit != nil && r.Unread == 0 && len(r.Holders) < *r.Limit {
		return w, false // there are leases left
	}
	holders := slices.Clone(r.Holders)
	if r.Limit == nil || r.sureHolders() >= *r.Limit {
		holders = slices.DeleteFunc(holders, func(p Participant) bool { return p.Unsure })
	} // otherwise some of these leases are held, and the end of one is enough
	return Wait{
		Path: r.Path, Kind: r.Kind, MayBe: r.MayBe, Waiters: slices.Clone(r.Waiters), Holders: holders,
		Any: r.Kind == Semaphore, limitKnown: r.Limit != nil, layout: r.Layout,
	}, len(holders) > 0 && len(r.Waiters) > 0
}

// lock identifies the lock of the wait. Locks of several kinds may have the same path.
func (w Wait) lock() lockID { return lockID{w.Path, w.Kind, w.layout} }

type lockID struct {
	path   string
	kind   Kind
	layout string
}

// pauseOfGraph is the time between the two reads of WaitGraph.
const pauseOfGraph = time.Second

// WaitGraph returns who waits for whom at and below some paths, and the deadlocks among
// them. WaitGraph first finds the waits. A second later, it re-reads the locks of possible
// deadlocks, and keeps the waits that have not changed. So at one moment, all processes of
// a Deadlock held and waited. If deadlocks share a process, WaitGraph returns only one of
// these deadlocks.
//
// A process is a session, or all sessions whose nodes name the same process. WaitGraph
// treats a process as one thread of work; the Doubts of a Deadlock say what the nodes
// leave open. It reports neither a cycle within one process nor a cycle of two
// processes in a single semaphore: busy processes have many such cycles, which resolve
// by themselves.
//
// Options that select recipes limit the graph to these recipes. WaitGraph reads all
// their participants and keeps them in memory. The errors are the same as Walk's.
//
// # Limits
//
// A cycle between processes is a deadlock only if each process waits in the goroutine
// that holds. The nodes do not show that; see Deadlock.Doubts. WaitGraph does not find
// all deadlocks, and may report a cycle that is not a deadlock:
//
//   - It reports no deadlock within one lock, such as two readers of a read/write lock
//     that both wait for its write side.
//   - Nodes with the same service, host and PID count as one process. Two containers may
//     share all three: then a cycle between them is not reported, and a cycle through both
//     may not be a deadlock.
//   - A waiter for several leases counts as a waiter for a single lease.
//   - Each root is walked separately. If roots overlap, a lock's waits come from the
//     first walk that finds any.
func WaitGraph(ctx context.Context, c *framework.Client, roots []string, opts ...Option) (g Graph, err error) {
	if len(roots) == 0 {
		return g, opError("", &framework.ConfigError{Name: "roots", Value: "none", Reason: "must be at least one"})
	}
	opts = append(slices.Clone(opts), WithMaxParticipants(math.MaxInt))
	for _, root := range roots {
		if g.Waits, err = g.waitsAt(Walk(ctx, c, root, opts...), g.Waits); err != nil {
			return Graph{}, err
		}
	}
	suspects := suspicious(g.Waits)
	if len(suspects) == 0 {
		return g, nil
	}
	if err := follow.Pause(ctx, c, &pauses.Growing{First: pauseOfGraph}); err != nil {
		return Graph{}, opError(roots[0], err)
	}
	var again []Wait
	opts = append(opts, WithDepth(0))
	for _, path := range suspects {
		again, err = g.waitsAt(Walk(ctx, c, path, opts...), again)
		if err != nil && !reason.Is(err, zk.ErrNoNode) { // otherwise the lock is free
			return Graph{}, err
		}
	}
	g.Deadlocks = deadlocks(stable(g.Waits, again))
	return g, nil
}

// waitsAt adds the waits of a walk. Roots may be below one another.
func (g *Graph) waitsAt(walk iter.Seq2[Recipe, error], all []Wait) ([]Wait, error) {
	known := map[lockID]bool{}
	for _, w := range all {
		known[w.lock()] = true
	}
	for r, err := range walk {
		if err != nil {
			return all, err
		}
		if r.Kind == Unreadable && !slices.Contains(g.Unreadable, r.Path) {
			g.Unreadable = append(g.Unreadable, r.Path)
		}
		if w, ok := waitOf(r); ok && !known[w.lock()] {
			all = append(all, w)
		}
	}
	return all, nil
}

// suspicious returns the paths of the locks with waits that may not end.
func suspicious(waits []Wait) (paths []string) {
	for _, l := range newKnot(waits).locks {
		if len(l.stuck) > 0 {
			paths = append(paths, l.Path)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// stable returns the waits and holders that both reads have found. All of them existed
// together between the reads: a node with the same czxid in both existed all the time, and
// neither a holder nor a waiter moves back in the queue.
func stable(first, second []Wait) (all []Wait) {
	before := map[lockID]Wait{}
	for _, w := range first {
		before[w.lock()] = w
	}
	for _, w := range second {
		was := before[w.lock()]
		held, waiting := inBoth(was.Holders, w.Holders), inBoth(was.Waiters, w.Waiters)
		if w.Any && (len(held) < len(w.Holders) || len(held) < len(was.Holders)) {
			continue // a client has returned or received a lease
		}
		if len(held) > 0 && len(waiting) > 0 {
			w.Holders, w.Waiters = held, waiting
			all = append(all, w)
		}
	}
	return all
}

// incarnation identifies one node: a later node at the same path has another czxid.
type incarnation struct {
	path  string
	czxid int64
}

// inBoth returns the participants of the second read whose nodes the first read has found.
func inBoth(first, second []Participant) []Participant {
	there := map[incarnation]bool{}
	for _, p := range first {
		there[incarnation{p.Path, p.Czxid}] = true
	}
	return slices.DeleteFunc(slices.Clone(second), func(p Participant) bool {
		return p.Czxid == 0 || !there[incarnation{p.Path, p.Czxid}]
	})
}
