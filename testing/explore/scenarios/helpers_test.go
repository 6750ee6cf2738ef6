package scenarios

import (
	"fmt"
	"strings"

	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/testing/explore"
	"github.com/gocurator/curator/testing/zktest"
)

// quick is how far each search goes, unless CURATOR_EXPLORE is set.
func quick() explore.Limits {
	return explore.Limits{Deviations: 2, Schedules: thorough.Size(400, 100)}
}

// names returns the names of that many actors.
func names(n int) (names []string) {
	for i := range n {
		names = append(names, string(rune('A'+i)))
	}
	return names
}

// below returns the nodes of a tree that are below a path.
func below(tree explore.Tree, path string) (nodes []zktest.Node) {
	for _, n := range tree {
		if strings.HasPrefix(n.Path, path+"/") {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// nothingBelow is a check for the end.
func nothingBelow(path string) func(explore.Tree) error {
	return func(tree explore.Tree) error {
		if left := below(tree, path); len(left) > 0 {
			return fmt.Errorf("%+v is left", left)
		}
		return nil
	}
}

// trouble is what an actor has in the natural course. The search then begins with
// what follows from it.
type trouble func(a *explore.Actor)

// The kinds of trouble.
var (
	none    trouble = func(*explore.Actor) {}
	cut     trouble = (*explore.Actor).Cut
	loss    trouble = (*explore.Actor).LoseSession
	expired trouble = (*explore.Actor).Expire
	givenUp trouble = (*explore.Actor).GiveUpSession
)
