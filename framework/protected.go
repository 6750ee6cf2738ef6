package framework

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
)

func protectedPrefix(guid string) string { return "_c_" + guid + "-" }

var protectedPrefixLength = len(protectedPrefix(znode.GUID()))

// protectedNames returns the names that have a protection prefix, by that
// prefix.
func protectedNames(names []string) map[string][]string {
	found := map[string][]string{}
	for _, name := range names {
		if len(name) >= protectedPrefixLength && strings.HasPrefix(name, "_c_") {
			prefix := name[:protectedPrefixLength]
			found[prefix] = append(found[prefix], name)
		}
	}
	return found
}

// foundNodes are the protected nodes that a caller has found below each parent. The
// caller searches each parent once, also if the search fails.
type foundNodes map[string]foundBelow

// foundBelow is the result of a search.
type foundBelow struct {
	byPrefix map[string][]string
	err      error
}

// of returns the names of the nodes below a parent that were made with this id. The
// transaction ahead of the list makes the server know of all writes that earlier
// connections of the session have sent. Curator lists without one.
func (f foundNodes) of(ctx context.Context, s *Session, parent, guid string) ([]string, error) {
	found, known := f[parent]
	if !known {
		siblings, err := afterQuorum(ctx, s, proto.Children(parent, false))
		found.byPrefix, found.err = protectedNames(siblings.Names), err
		if reason.Is(found.err, zk.ErrNoNode) {
			found.err = nil
		}
		f[parent] = found
	}
	return found.byPrefix[protectedPrefix(guid)], found.err
}

// firstOf returns the path of the first by name of the nodes that one create has
// made, or nothing. It has the others deleted.
func (c *Client) firstOf(parent string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	names = slices.Sorted(slices.Values(names)) // servers list them in any order
	for _, name := range names[1:] {
		c.deleteInBackground(znode.Join(parent, name))
	}
	return znode.Join(parent, names[0])
}

// deleteMaybeMade looks for a node that a session may or may not have made, and
// deletes it. If the node may outlive the session, and the look takes place in a
// later one, it looks until the node cannot come any more.
func (c *Client) deleteMaybeMade(parent, guid string, s *Session, mode Mode) {
	if mode.ephemeral() {
		s = nil
	}
	c.cleanUp(&cleanup{parent: parent, guid: guid, version: AnyVersion, madeIn: s})
}

// givenUp are protected nodes that are being made, and whose callers have gone.
// The client cannot delete such a node before the answer tells its name. Until
// then, what the callers create next may stand behind it. But nobody waits for
// such a node: it counts as gone.
type givenUp struct {
	mu    sync.Mutex
	below map[string]map[string]bool // the prefixes of the names, by the parent; remove removes both
}

// protectedNode is a node that a call makes, and that its id tells from others.
type protectedNode struct {
	parent string
	guid   string // empty if the node is not protected
	seenTo bool   // the caller had gone, and its node was seen to; protected by givenUp.mu
}

// path returns the path of the node, as znode.Join, in one piece. The name comes
// without the prefix.
func (n *protectedNode) path(name string) string {
	parent := n.parent
	if parent == "/" {
		parent = ""
	}
	return parent + "/_c_" + n.guid + "-" + name
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
