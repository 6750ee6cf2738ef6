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

// refused is the exit status of a command that was not carried out because of
// what is there, or because the user said no.
const refused = 1

// participantAt returns the participant whose node a path is, with its recipe,
// or nil if it is none's: another node, or one that is gone.
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

// participantIn returns the participant of a node among some recipes.
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

// completionPatience is how long somebody who has pressed Tab waits for a
// server.
const completionPatience = 2 * time.Second

// nodesBeginning returns the nodes whose paths begin so, in order, up to the end
// of a level. A path that is complete goes on with the next level. Without an
// answer there are none: there is nobody to tell why.
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
