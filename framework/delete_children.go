package framework

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
)

// maxCollected bounds how many nodes of a tree are in memory while it is
// deleted. A tree with fewer nodes is collected first, and nothing is deleted
// if that fails. For a tree with more, see largeTree. The bound does not hold
// for the children that a server lists in one answer.
const maxCollected = 10_000

// deleteNodes deletes nodes in this order. It returns the nodes that have
// children, and how many it has deleted.
func deleteNodes(ctx context.Context, s *Session, paths []string) (notEmpty []string, deleted int, err error) {
	remove := func(path string) proto.Request[proto.Nothing] { return proto.Delete(path, AnyVersion) }
	err = pipeline(ctx, s, paths, remove, func(path string, _ proto.Nothing, err error) error {
		if err == nil || reason.Is(err, zk.ErrNoNode) {
			s.nodeGone(path)
		}
		switch {
		case err == nil:
			deleted++
		case reason.Is(err, zk.ErrNotEmpty):
			notEmpty = append(notEmpty, path)
		case !reason.Is(err, zk.ErrNoNode):
			return fmt.Errorf("node %s: %w", path, err)
		}
		return nil
	})
	return notEmpty, deleted, err
}

// descendants returns the nodes below a node, each behind its parent. It
// returns all = false if there are too many.
func descendants(ctx context.Context, s *Session, path string) (below []string, all bool, err error) {
	for level := []string{path}; len(level) > 0; {
		found, err := childrenOf(ctx, s, level, maxCollected-len(below))
		level = found.below
		below = append(below, level...)
		if !found.complete || len(found.rest) > 0 || err != nil {
			return below, false, err
		}
	}
	return below, true, nil
}

// children are the children of some nodes.
type children struct {
	below    []string
	rest     []string // the children beyond the limit of the node that was listed last
	complete bool     // no other children are left out
}

// childrenOf returns the children of nodes: no more than limit, and the rest of
// the node at which that is reached.
func childrenOf(ctx context.Context, s *Session, parents []string, limit int) (all children, err error) {
	listed := 0
	list := func(path string) proto.Request[proto.ChildrenAnswer] { return proto.Children(path, false) }
	err = pipeline(ctx, s, parents, list, func(parent string, found proto.ChildrenAnswer, err error) error {
		if err != nil && !reason.Is(err, zk.ErrNoNode) {
			return err
		}
		listed++
		for i, name := range found.Names {
			found.Names[i] = znode.Join(parent, name)
		}
		room := min(limit-len(all.below), len(found.Names))
		all.below = append(all.below, found.Names[:room]...)
		if all.rest = found.Names[room:]; len(all.rest) > 0 {
			return errTooMany
		}
		return nil
	})
	if reason.Is(err, errTooMany) {
		err = nil
	}
	all.complete = err == nil && listed == len(parents)
	return all, err
}

var errTooMany = errors.New("more nodes than are collected at once")

// largeTree deletes a tree of any size. It lists some nodes, does the same with
// their children, and then deletes the nodes. Each node is listed once, unless
// there is no room for its children, and deleted once.
//
// A node may have more children than there is room for. The rest of them is deleted
// at once, without a look at what is below, because most of them have no children:
// the node itself would have to be listed for each portion otherwise.
type largeTree struct {
	steps   []*treeStep // each is below the one before
	held    int         // paths in memory
	deleted int
}

// treeStep is some nodes with their children.
type treeStep struct {
	nodes  []string // deleted when nothing is left in below
	below  []string // their children that were not listed yet
	cut    bool     // there was no room for all children
	before int      // how many nodes were deleted before this step
}

// deleteBelow deletes the nodes below a node, as deletion.deleteBelow says.
func (t *largeTree) deleteBelow(ctx context.Context, s *Session, path string) (more bool, err error) {
	if err := t.descend(ctx, s, []string{path}); err != nil {
		return false, err
	}
	first := t.steps[0]
	first.nodes = nil // the caller deletes the node itself
	for len(t.steps) > 0 {
		if err := t.step(ctx, s); err != nil {
			return false, err
		}
	}
	return first.cut && t.deleted > 0, nil
}

func (t *largeTree) step(ctx context.Context, s *Session) error {
	last := t.steps[len(t.steps)-1]
	if len(last.below) > 0 {
		return t.descend(ctx, s, t.some(last))
	}
	return t.ascend(ctx, s, last)
}

// some takes nodes from a step's children: the more paths are in memory, the
// fewer it takes.
func (t *largeTree) some(step *treeStep) []string {
	n := min(max(t.room()/8, pipelineDepth), len(step.below))
	rest := len(step.below) - n
	nodes := slices.Clone(step.below[rest:])
	clear(step.below[rest:])
	step.below = step.below[:rest]
	return nodes
}

func (t *largeTree) room() int { return max(maxCollected-t.held, pipelineDepth) }

// descend makes the next step: it lists nodes.
func (t *largeTree) descend(ctx context.Context, s *Session, nodes []string) error {
	all, err := childrenOf(ctx, s, nodes, t.room())
	step := &treeStep{nodes: nodes, below: all.below, cut: !all.complete, before: t.deleted}
	t.steps = append(t.steps, step)
	t.held += len(all.below)
	if err != nil || len(all.rest) == 0 {
		return err
	}
	notEmpty, deleted, err := deleteNodes(ctx, s, all.rest)
	t.deleted += deleted
	step.cut = step.cut || len(notEmpty) > 0
	return err
}

// ascend deletes the nodes of the last step. If there was no room for all their
// children, the nodes that still have some are listed once more, as long as
// some are deleted each time.
func (t *largeTree) ascend(ctx context.Context, s *Session, last *treeStep) error {
	notEmpty, deleted, err := deleteNodes(ctx, s, last.nodes)
	t.deleted += deleted
	t.held -= len(last.nodes)
	t.steps = t.steps[:len(t.steps)-1]
	if last.cut && len(t.steps) > 0 && t.deleted > last.before {
		above := t.steps[len(t.steps)-1]
		above.below = append(above.below, notEmpty...)
		t.held += len(notEmpty)
	}
	return err
}
