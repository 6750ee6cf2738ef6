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

// Walk returns the recipes at a path and below it, in the order of their paths,
// each after those below it. It only reads.
//
//	for r, err := range inspect.Walk(ctx, client, "/") {
//		if err != nil {
//			return err // the answer is not complete
//		}
//		fmt.Println(r.Kind, r.Path, len(r.Holders), len(r.Waiters))
//	}
//
// A walk without an error is complete: it returns every node that existed from its start
// to its end, except Unreadable subtrees and what options leave out. A node that is deleted
// during the walk is no error. Recipes are read one after
// the other, and each in several requests: a recipe is what its nodes were at
// nearly the same time, and two recipes are of different times.
//
// An error ends the walk. It matches zk.ErrNoNode if there is no node at root,
// zk.ErrInvalidPath or zk.ErrBadArguments for an input that cannot be used, or
// the error of ctx. All others are the client's: a walk goes on after an outage
// or a loss of the session if the client's retry policy does.
//
// A walk sends one request for each node, another one for each registration, and
// one for the participants of a recipe, from four to 16 of them. A hundred take
// three. There is one for each participant if they have much data. Up to 32
// requests are under way at once. No request begins after the end of the loop.
// The memory that a walk takes depends on the depth of the tree, and on the
// longest lists of children, but not on the number of recipes. A sequence may be
// walked several times, and by several goroutines.
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

// gaveUp adds to the error of a context that has ended why there is no
// connection.
func gaveUp(ctx context.Context, c *framework.Client, err error) error {
	if !reason.IsOfContext(ctx, err) || reason.Is(err, framework.ErrNotConnected) {
		return err
	}
	if why := framework.Extend(c).NotConnected(); why != nil {
		return fmt.Errorf("%w (last error: %w)", err, why)
	}
	return err
}

// opError adds the call and its path to an error that has none.
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

// walk is one walk. The caller's goroutine goes through the tree, from node to
// node, and hands out the recipes. Other goroutines visit the nodes that come
// next.
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

// pending is a visit that is under way.
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

// descend hands out what is below a node that was visited, and then what is
// there. It returns false if the caller has left the loop.
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

// visitAll yields the visits of these paths, in order. Visits begin ahead of their
// turn, but not all of them: the caller may be slow, and the list long.
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
