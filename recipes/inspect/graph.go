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

// Graph says who waits for whom. See WaitGraph.
type Graph struct {
	Waits     []Wait // one for each lock
	Deadlocks []Deadlock

	// Unreadable has the paths whose children may not be listed. The waits
	// there are not known.
	Unreadable []string
}

// Wait is a lock or a semaphore that participants wait for. Candidates of a leader
// latch make no Wait: they wait for as long as they live, and do other work
// meanwhile.
type Wait struct {
	Path    string
	Kind    Kind
	MayBe   []Kind
	Waiters []Participant // ordered as in the queue

	// Holders must go first: all of them, or, if Any is set, at least one. Each
	// waiter waits for them, and not for the waiters ahead, which wait for the same
	// holders. If the limit of a semaphore is known, and not which of its leases
	// are held, the leases that may be held are among them.
	Holders []Participant
	Any     bool

	limitKnown bool
	layout     string
}

// waitOf returns who waits for whom at a recipe. It reports false if nobody waits.
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
	} // else some of them hold, and it is enough if one of these goes
	return Wait{
		Path: r.Path, Kind: r.Kind, MayBe: r.MayBe, Waiters: slices.Clone(r.Waiters), Holders: holders,
		Any: r.Kind == Semaphore, limitKnown: r.Limit != nil, layout: r.Layout,
	}, len(holders) > 0 && len(r.Waiters) > 0
}

// lock identifies the lock that is waited for. Locks of several kinds may have
// one path.
func (w Wait) lock() lockID { return lockID{w.Path, w.Kind, w.layout} }

type lockID struct {
	path   string
	kind   Kind
	layout string
}

// pauseOfGraph is the time between the two looks of WaitGraph.
const pauseOfGraph = time.Second

// WaitGraph returns who waits for whom at and below some paths, and the
// deadlocks among them. It looks twice. The first look finds the waits. After
// a second, the other look reads the locks in which there may be a deadlock, and
// keeps what has not changed: the processes of a Deadlock all held and waited at
// one moment between the looks. If deadlocks share a process, only one of them is
// returned.
//
// A process is a session, or all sessions whose nodes name the same process. It
// is taken for one thread of work: the Doubts of a Deadlock say what the nodes
// leave open. A cycle within one process is not reported, nor one of two
// processes in a single semaphore: busy processes have many of these, and they
// come apart by themselves.
//
// Options that select recipes limit the graph to these. All of their
// participants are read and kept in memory. The errors are the same as Walk's.
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
		if err != nil && !reason.Is(err, zk.ErrNoNode) { // or else it is free
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

// stable returns the waits of the second of two looks that were there in the
// first one, with the holders that were. All of them were there at one time,
// which is between the looks: a node that has the same czxid in both was there
// all the time, and neither a holder nor a waiter falls back behind others.
func stable(first, second []Wait) (all []Wait) {
	before := map[lockID]Wait{}
	for _, w := range first {
		before[w.lock()] = w
	}
	for _, w := range second {
		was := before[w.lock()]
		held, waiting := inBoth(was.Holders, w.Holders), inBoth(was.Waiters, w.Waiters)
		if w.Any && (len(held) < len(w.Holders) || len(held) < len(was.Holders)) {
			continue // a client has given a lease back, or got one
		}
		if len(held) > 0 && len(waiting) > 0 {
			w.Holders, w.Waiters = held, waiting
			all = append(all, w)
		}
	}
	return all
}

// incarnation is one node: another one of its path has another czxid.
type incarnation struct {
	path  string
	czxid int64
}

// inBoth returns the participants of the second look whose nodes were there in
// the first.
func inBoth(first, second []Participant) []Participant {
	there := map[incarnation]bool{}
	for _, p := range first {
		there[incarnation{p.Path, p.Czxid}] = true
	}
	return slices.DeleteFunc(slices.Clone(second), func(p Participant) bool {
		return p.Czxid == 0 || !there[incarnation{p.Path, p.Czxid}]
	})
}
