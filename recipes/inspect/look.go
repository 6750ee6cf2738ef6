package inspect

import (
	"context"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/follow"
)

// WaitGraph returns who waits for whom at and below some paths, and the
// deadlocks among them. It looks twice. The first look finds the waits. After
// a pause, the second look reads the locks in which there may be a deadlock,
// and keeps what has not changed: the processes of a Deadlock all held and
// waited at one moment between the looks. See WithPause. If deadlocks share a
// process, only one of them is returned.
//
// A process is a session, or all sessions whose nodes name the same process. It
// is taken for one thread of work: the Doubts of a Deadlock say what the nodes
// leave open. A cycle within one process is not reported, nor one of two
// processes in a single semaphore: busy processes have many of these, and they
// come apart by themselves.
//
// Options that select recipes limit the graph to these. All of their
// participants are read and kept in memory. The errors are the same as Walk's.
func WaitGraph(ctx context.Context, c *framework.Client, roots []string, opts ...Option) (Graph, error) {
	opts = append(slices.Clone(opts), func(cfg *config) { cfg.most = configOf(nil).most })
	l := look{ctx: ctx, client: c, seen: map[lockID]bool{}, graph: Graph{Waits: []Wait{}, Deadlocks: []Deadlock{}}}
	if len(roots) == 0 {
		return Graph{}, opError("", &framework.ConfigError{Name: "roots", Value: "none", Reason: "must be at least one"})
	}
	for _, root := range roots {
		if err := l.at(root, opts); err != nil {
			return Graph{}, err
		}
	}
	suspects := suspicious(l.graph.Waits)
	if len(suspects) == 0 {
		return l.graph, nil
	}
	if err := l.pause(configOf(opts).pause); err != nil {
		return Graph{}, opError(roots[0], err)
	}
	again, err := l.again(suspects, opts)
	if err != nil {
		return Graph{}, err
	}
	found, err := deadlocks(ctx, stable(l.graph.Waits, again))
	if err != nil {
		return Graph{}, opError(roots[0], err)
	}
	l.graph.Deadlocks = append(l.graph.Deadlocks, found...)
	return l.graph, nil
}

// look collects a graph.
type look struct {
	ctx    context.Context
	client *framework.Client
	seen   map[lockID]bool // roots may be below one another
	graph  Graph
}

// at takes the first look at and below a root.
func (l *look) at(root string, opts []Option) error {
	for r, err := range Walk(l.ctx, l.client, root, opts...) {
		if err != nil {
			return err
		}
		l.noteUnreadable(r)
		if id := (lockID{r.Path, r.Kind, r.Layout}); !l.seen[id] {
			if waits := Waits([]Recipe{r}); len(waits) > 0 {
				l.seen[id] = true
				l.graph.Waits = append(l.graph.Waits, waits...)
			}
		}
	}
	return nil
}

// again returns the waits at some paths in a second look.
func (l *look) again(paths []string, opts []Option) (all []Wait, err error) {
	opts = append(slices.Clone(opts), WithDepth(0), WithProgress(func(Progress) {}))
	for _, path := range paths {
		for r, err := range Walk(l.ctx, l.client, path, opts...) {
			if reason.Is(err, zk.ErrNoNode) {
				break // it is free
			}
			if err != nil {
				return nil, err
			}
			l.noteUnreadable(r)
			all = append(all, Waits([]Recipe{r})...)
		}
	}
	return all, nil
}

func (l *look) noteUnreadable(r Recipe) {
	if r.Kind == Unreadable && !slices.Contains(l.graph.Unreadable, r.Path) {
		l.graph.Unreadable = append(l.graph.Unreadable, r.Path)
	}
}

func (l *look) pause(d time.Duration) error {
	return follow.Pause(l.ctx, l.client, &pauses.Growing{First: d})
}

// suspicious returns the paths of the locks with waits that may not end.
func suspicious(waits []Wait) []string {
	var paths []string
	for _, stuck := range newKnots(waits).stuck {
		for _, w := range stuck {
			paths = append(paths, w.on.Path)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}
