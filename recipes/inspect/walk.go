package inspect

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/follow"
)

// Walk returns the recipes at a path and below, in the order of their paths, except
// that a recipe follows the recipes below it. Walk only reads.
//
//	for r, err := range inspect.Walk(ctx, client, "/") {
//		if err != nil {
//			return err // the answer is not complete
//		}
//		fmt.Println(r.Kind, r.Path, len(r.Holders), len(r.Waiters))
//	}
//
// A walk without an error is complete: it returns every node that existed from its start to
// its end, except Unreadable subtrees and nodes that options exclude. A node that is
// deleted during the walk is not an error. Walk reads one recipe after the other, and each
// with several requests: the nodes of one recipe are from nearly the same time, and two
// recipes are from different times.
//
// An error ends the walk. It matches zk.ErrNoNode if there is no node at root,
// zk.ErrInvalidPath or zk.ErrBadArguments for an input that cannot be used, or the
// error of ctx. All other errors are the client's: a walk continues after an outage or
// the loss of a session if the client's retry policy allows that.
//
// A walk sends one request for each node and another for each registration. The
// participants of a recipe take one request if there are four to 16, and three requests
// if there are a hundred; participants with much data take one request each. Up to 32
// requests are under way at the same time. No request begins after the end of the loop.
// The memory that a walk takes depends on the depth of the tree, and on the longest
// lists of children, but not on the number of recipes. A sequence may be walked several
// times, and by several goroutines.
//
// # Limits
//
//   - A walk does not visit nodes below the items of a queue.
//   - A semaphore that gets its first participants during the visit may not be
//     recognised: its parts may be listed separately, or twice.
//   - A recipe whose participants change during each of several reads is listed without
//     participants; see Recipe.Unread.
//   - A visit that fails does not end other visits. The walk reports the error when the
//     visit's turn comes.
//   - An idle lock (see locks.ReleasePolicy) looks like a held one. Its owner gives the
//     lock up when another contender queues.
//   - A slow loop body makes the answer old, because visits run ahead of the loop.
//   - A server before ZooKeeper 3.6 lacks the request for reading many nodes. The walk ends
//     with an error that says so at the first recipe with four or more participants.
func Walk(ctx context.Context, c *framework.Client, root string, opts ...Option) iter.Seq2[Recipe, error] {
	cfg := configOf(opts)
	return func(yield func(Recipe, error) bool) {
		if err := check(c, root, cfg); err != nil {
			yield(Recipe{}, opError(root, err))
			return
		}
		w := &walk{config: cfg, root: root, yield: func(r Recipe) bool { return yield(r, nil) }}
		w.ctx, w.client = ctx, c
		w.slots, w.readers = make(follow.Slots, mostRequests), make(follow.Slots, mostRequests)
		if err := w.run(); err != nil {
			yield(Recipe{}, opError(root, gaveUp(ctx, c, err)))
		}
	}
}

// gaveUp adds the reason for a missing connection to the error of a context that has
// ended.
func gaveUp(ctx context.Context, c *framework.Client, err error) error {
	if !reason.IsOfContext(ctx, err) || reason.Is(err, framework.ErrNotConnected) {
		return err
	}
	if why := framework.Extend(c).NotConnected(); why != nil {
		return fmt.Errorf("%w (last error: %w)", err, why)
	}
	return err
}

// opError adds the call and its path to an error without them.
func opError(root string, err error) error {
	if op := (*framework.OpError)(nil); reason.As(err, &op) {
		return err
	}
	return &framework.OpError{Op: "inspect", Path: root, Err: err}
}

func check(c *framework.Client, root string, cfg config) error {
	if c == nil {
		return &framework.ConfigError{Name: "client", Value: "nil", Reason: "must not be nil"}
	}
	if err := framework.ValidatePath(root); err != nil {
		return err
	}
	return cfg.fault
}

// walk is one walk. The caller's goroutine goes through the tree, from node to node,
// and hands out the recipes. Other goroutines visit the next nodes in advance.
type walk struct {
	reader
	config
	root  string
	yield func(Recipe) bool

	visits sync.WaitGroup
}

// run returns nil if the caller has left the loop.
func (w *walk) run() error {
	ctx, cancel := context.WithCancel(w.ctx)
	defer w.visits.Wait()
	defer cancel() // ends the visits
	w.ctx = ctx
	root, err := w.start(w.root, 0).wait(ctx)
	if err != nil {
		return err
	}
	_, err = w.descend(root, 0)
	return err
}

// pending is a visit under way.
type pending struct {
	over  chan struct{} // closed at the end; the other fields are set then
	found *visit
	err   error
}

// start begins a visit.
func (w *walk) start(path string, level int) *pending {
	p := &pending{over: make(chan struct{})}
	w.visits.Go(func() {
		p.found, p.err = w.visit(path, level)
		close(p.over)
	})
	return p
}

func (p *pending) wait(ctx context.Context) (*visit, error) {
	select {
	case <-p.over:
		return p.found, p.err
	case <-ctx.Done():
		return nil, reason.OfContext(ctx)
	}
}

// descend hands out the recipes below a visited node, and then the recipes at that
// node. It returns false if the caller has left the loop.
func (w *walk) descend(v *visit, level int) (more bool, err error) {
	group := Recipe{Path: v.path, Kind: Registrations}
	for child, err := range w.visitAll(v.below, level+1) {
		if err != nil {
			return false, err
		}
		if child.member != nil {
			group.Holders = append(group.Holders, *child.member)
		}
		if more, err := w.descend(child, level+1); !more || err != nil {
			return false, err
		}
	}
	if len(group.Holders) > 0 {
		v.recipes = append(v.recipes, group)
	}
	for _, r := range v.recipes {
		r.number(w.most)
		if w.wants(r.Kind, r.MayBe...) && !w.yield(r) {
			return false, nil
		}
	}
	return true, nil
}

// visitAll yields the visits of these paths, in order. A limited number of visits begin
// ahead of their turn, because the caller may be slow and the list long.
func (w *walk) visitAll(paths []string, level int) iter.Seq2[*visit, error] {
	return func(yield func(*visit, error) bool) {
		var ahead []*pending
		for {
			for len(ahead) < mostRequests && len(paths) > 0 {
				if w.enter(paths[0]) {
					ahead = append(ahead, w.start(paths[0], level))
				}
				paths = paths[1:]
			}
			if len(ahead) == 0 || !yield(ahead[0].wait(w.ctx)) {
				return
			}
			ahead = ahead[1:]
		}
	}
}
