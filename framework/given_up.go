package framework

import (
	"maps"
	"slices"
	"sync"
)

// givenUp are protected nodes that are being made, and whose callers have gone.
// The client cannot delete such a node before the answer tells its name. Until
// then, what the callers create next may stand behind it. But nobody waits for
// such a node: it counts as gone.
type givenUp struct {
	mu    sync.Mutex
	below map[string]map[string]bool // the prefixes of the names, by the parent
}

// protectedNode is a node that a call makes, and that its id tells from others.
type protectedNode struct {
	parent string
	guid   string // empty if the node is not protected
	seenTo bool   // the caller had gone, and its node was seen to; protected by givenUp.mu
}

// add notes the node of a create whose caller goes, unless late has seen to it
// already.
func (g *givenUp) add(n *protectedNode) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n.seenTo {
		return
	}
	if g.below == nil {
		g.below = map[string]map[string]bool{}
	}
	if g.below[n.parent] == nil {
		g.below[n.parent] = map[string]bool{}
	}
	g.below[n.parent][protectedPrefix(n.guid)] = true
}

// remove forgets a node: the client has sent its deletion, or looks for it.
func (g *givenUp) remove(n *protectedNode) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n.seenTo = true
	delete(g.below[n.parent], protectedPrefix(n.guid))
	if len(g.below[n.parent]) == 0 {
		delete(g.below, n.parent)
	}
}

// under returns the prefixes of the nodes below a parent.
func (g *givenUp) under(parent string) prefixes {
	g.mu.Lock()
	defer g.mu.Unlock()
	return maps.Clone(g.below[parent])
}

// prefixes are what the names of some protected nodes begin with.
type prefixes map[string]bool

// cutFrom returns the names of all other nodes.
func (p prefixes) cutFrom(names []string) []string {
	if len(p) == 0 {
		return names
	}
	return slices.DeleteFunc(names, func(name string) bool {
		return p[name[:min(len(name), protectedPrefixLength)]]
	})
}
