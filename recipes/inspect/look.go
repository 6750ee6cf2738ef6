package inspect

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
)

// WaitGraph returns who waits for whom at and below some paths, and the
// deadlocks among them. It looks twice. The waits are those of the first look.
// After a pause, the second look reads the locks in which there may be a
// deadlock, and keeps what has not changed: the processes of a Deadlock all
// held and waited at one moment between the looks. See WithPause.
//
// A process is a session, or all sessions whose nodes name the same process. It
// is taken for one thread of work: the Doubts of a Deadlock say what the nodes
// leave open. A cycle within one process is not reported, nor one of two
// processes in a single semaphore: busy processes have many of these, and they
// come apart by themselves.
//
// Options that select recipes select those of the graph. Of their participants
// all are read. The errors are those of Walk.
func WaitGraph(ctx context.Context, c *framework.Client, roots []string, opts ...Option) (Graph, error) {
	opts = append(slices.Clone(opts), func(cfg *config) { cfg.most = configOf(nil).most })
	graph := Graph{Waits: []Wait{}, Deadlocks: []Deadlock{}}
	seen := map[lockID]bool{} // roots may be below one another
	for _, root := range roots {
		for r, err := range Walk(ctx, c, root, opts...) {
			if err != nil {
				return Graph{}, err
			}
			if r.Kind == Unreadable && !slices.Contains(graph.Unreadable, r.Path) {
				graph.Unreadable = append(graph.Unreadable, r.Path)
			}
			if id := (lockID{r.Path, r.Kind, r.Layout}); !seen[id] && len(r.Waiters) > 0 {
				seen[id] = true
				graph.Waits = append(graph.Waits, Waits([]Recipe{r})...)
			}
		}
	}
	again, err := lookAgain(ctx, c, graph.Waits, opts)
	if err != nil {
		return Graph{}, err
	}
	graph.Deadlocks = append(graph.Deadlocks, deadlocks(again)...)
	return graph, nil
}

// lookAgain returns the waits that may be part of a deadlock, and are the same
// after a pause.
func lookAgain(ctx context.Context, c *framework.Client, first []Wait, opts []Option) ([]Wait, error) {
	suspects := suspicious(first)
	if len(suspects) == 0 {
		return nil, nil
	}
	select {
	case <-time.After(configOf(opts).pause):
	case <-ctx.Done():
		return nil, reason.OfContext(ctx)
	}
	opts = append(slices.Clone(opts), WithDepth(0), WithProgress(func(Progress) {}))
	var second []Wait
	for _, path := range suspects {
		for r, err := range Walk(ctx, c, path, opts...) {
			if errors.Is(err, zk.ErrNoNode) {
				break // it is free
			}
			if err != nil {
				return nil, err
			}
			second = append(second, Waits([]Recipe{r})...)
		}
	}
	return stable(first, second), nil
}

// suspicious returns the paths of the locks with waits that may not end.
func suspicious(waits []Wait) []string {
	k := newKnots(waits)
	k.reduce()
	var paths []string
	for _, stuck := range k.stuck {
		for _, w := range stuck {
			paths = append(paths, w.Path)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}
