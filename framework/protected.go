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

// protectedNames returns the names with a protection prefix, grouped by prefix.
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
// caller searches each parent once, even if the search fails.
type foundNodes map[string]foundBelow

// foundBelow is the result of a search.
type foundBelow struct {
	byPrefix map[string][]string
	err      error
}

// of returns the names of the nodes below a parent that were created with this id. The
// transaction before the listing ensures that the server has applied all writes from
// the session's earlier connections. Curator lists without a transaction.
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

// firstOf returns the path of the first node, by name, that one create has made, or an
// empty path. It deletes the other nodes in the background.
func (c *Client) firstOf(parent string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	names = slices.Sorted(slices.Values(names)) // servers list names in any order
	for _, name := range names[1:] {
		c.deleteInBackground(znode.Join(parent, name))
	}
	return znode.Join(parent, names[0])
}

// deleteMaybeMade searches for a node that a session may have created, and deletes it.
// If the node may survive the session and the search happens in a later session,
// deleteMaybeMade repeats the search until the node can no longer be created.
func (c *Client) deleteMaybeMade(parent, guid string, s *Session, mode Mode) {
	if mode.ephemeral() {
		s = nil
	}
	c.cleanUp(&cleanup{parent: parent, guid: guid, version: AnyVersion, madeIn: s})
}

// givenUp are protected nodes that are being created although their callers have given
// up. The client cannot delete such a node before the answer contains its name. Until
// then, a later node of the same caller may queue behind it. But no contender waits for
// such a node, which counts as deleted.
type givenUp struct {
	mu    sync.Mutex
	below map[string]map[string]bool // the prefixes of names, by parent; remove removes both
}

// protectedNode is a node that a call creates, identified by a random id.
type protectedNode struct {
	parent string
	guid   string // empty if the node is not protected
	seenTo bool   // the caller has given up, and the node's deletion is arranged; protected by givenUp.mu
}

// path returns the path of the node, like znode.Join but with one allocation. The
// argument is the name without the prefix.
func (n *protectedNode) path(name string) string {
	parent := n.parent
	if parent == "/" {
		parent = ""
	}
	return parent + "/_c_" + n.guid + "-" + name
}

// add records the node of a create whose caller gives up, unless late has already dealt
// with the node.
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

// remove forgets a node: the client has sent its deletion, or searches for it.
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

// prefixes are the prefixes of the names of protected nodes.
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
