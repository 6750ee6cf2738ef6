package main

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/gocurator/curator/cmd/zklock/internal/view"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/znode"
	"github.com/gocurator/curator/recipes/inspect"
)

// refused is the exit status if the state of the nodes, or the user's answer, prevents
// the action.
const refused = 1

// participantAt returns the participant with the node at a path, and its recipe. It
// returns nil if the node belongs to no participant or does not exist.
func participantAt(ctx context.Context, c *framework.Client, node string) (*view.Sighting, error) {
	parent := path.Dir(node)
	lock := parent
	if base := path.Base(parent); base == "leases" || base == "locks" {
		lock = path.Dir(parent) // a semaphore has its nodes one level deeper
	}
	for _, place := range slices.Compact([]string{lock, parent}) {
		recipes, err := recipesAt(ctx, c, place)
		if err != nil {
			return nil, err
		}
		if s := participantIn(recipes, node); s != nil {
			return s, nil
		}
	}
	return nil, nil
}

// participantIn returns the participant with a node among a list of recipes.
func participantIn(recipes []inspect.Recipe, node string) *view.Sighting {
	for _, r := range recipes {
		for _, p := range r.Holders {
			if p.Path == node {
				return &view.Sighting{Participant: p, Recipe: r, Holds: true}
			}
		}
		for _, p := range r.Waiters {
			if p.Path == node {
				return &view.Sighting{Participant: p, Recipe: r}
			}
		}
	}
	return nil
}

// completionPatience is how long a completion waits for a server.
const completionPatience = 2 * time.Second

// nodesBeginning returns the nodes of one level whose paths have this beginning, in
// order. After a complete path, the next level follows. If no server answers,
// nodesBeginning returns nothing, because a completion cannot show an error.
func nodesBeginning(ctx context.Context, e *env, beginning string) []string {
	if beginning != "" && beginning[0] != '/' {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, completionPatience)
	defer cancel()
	c, err := e.connect(ctx)
	if err != nil {
		return nil
	}
	defer c.Close()
	parent, _ := znode.Split(cmp.Or(beginning, "/"))
	found := childrenBeginning(ctx, c, parent, beginning)
	if len(found) == 1 && found[0] == beginning {
		if below := childrenBeginning(ctx, c, beginning, beginning); len(below) > 0 {
			return below
		}
	}
	return found
}

func childrenBeginning(ctx context.Context, c *framework.Client, parent, beginning string) (found []string) {
	names, _, _ := c.Children(ctx, parent)
	for _, name := range names {
		if node := znode.Join(parent, name); strings.HasPrefix(node, beginning) {
			found = append(found, node)
		}
	}
	slices.Sort(found)
	return found
}
