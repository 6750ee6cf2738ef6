package main

import (
	"context"
	"path"
	"slices"

	"github.com/gocurator/curator/cmd/zklock/internal/view"
	"github.com/gocurator/curator/framework"
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
