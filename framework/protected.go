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

// givenUp are nodes whose callers have given them up, and which count as deleted. A later
// node of the same caller may queue behind such a node, but no contender waits for it.
// There are two kinds:
//
//   - Protected nodes that are being created. The client cannot delete such a node before
//     the answer contains its name.
//   - Ephemeral nodes that a clean-up is deleting, for requests of the nodes' session.
type givenUp struct {
	mu    sync.Mutex
	below map[string]givenUpNames // by parent; removeLocked removes names and parents
}

// givenUpNames are prefixes of the names of protected nodes, with nil, and names of
// ephemeral nodes, with their session.
type givenUpNames map[string]*Session

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
	if !n.seenTo {
		g.addLocked(n.parent, protectedPrefix(n.guid), nil)
	}
}

// addPath records an ephemeral node of a session that a clean-up deletes.
func (g *givenUp) addPath(path string, s *Session) {
	g.mu.Lock()
	defer g.mu.Unlock()
	parent, name := znode.Split(path)
	g.addLocked(parent, name, s)
}

func (g *givenUp) addLocked(parent, name string, s *Session) {
	if g.below == nil {
		g.below = map[string]givenUpNames{}
	}
	if g.below[parent] == nil {
		g.below[parent] = givenUpNames{}
	}
	g.below[parent][name] = s
}

// remove forgets a node: the client has sent its deletion, or searches for it.
func (g *givenUp) remove(n *protectedNode) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n.seenTo = true
	g.removeLocked(n.parent, protectedPrefix(n.guid))
}

// removePath forgets a node whose clean-up has ended.
func (g *givenUp) removePath(path string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.removeLocked(znode.Split(path))
}

func (g *givenUp) removeLocked(parent, name string) {
	delete(g.below[parent], name)
	if len(g.below[parent]) == 0 {
		delete(g.below, parent)
	}
}

// under returns the names below a parent that count as deleted for requests of a session.
func (g *givenUp) under(parent string, s *Session) givenUpNames {
	g.mu.Lock()
	defer g.mu.Unlock()
	names := maps.Clone(g.below[parent])
	maps.DeleteFunc(names, func(_ string, of *Session) bool { return of != nil && of != s })
	return names
}

// cutFrom returns the names of all other nodes.
func (g givenUpNames) cutFrom(names []string) []string {
	if len(g) == 0 {
		return names
	}
	return slices.DeleteFunc(names, func(name string) bool {
		_, isName := g[name]
		_, isPrefix := g[name[:min(len(name), protectedPrefixLength)]]
		return isName || isPrefix
	})
}
