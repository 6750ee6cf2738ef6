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

// searches are a session's searches for protected nodes. All callers that
// search for a node below the same parent share one search. But no caller may
// get a list that is older than its question, so it never joins a search that
// has begun: all callers that come while one is under way share the next.
type searches struct {
	mu       sync.Mutex         // protects the following field
	byParent map[string]*search // the newest of a parent; begin removes it when no caller wants another
}

// search is one search, under way or not begun yet.
type search struct {
	wanted bool
	done   chan struct{}

	// Set before done is closed.
	found map[string][]string
	err   error
}

// want returns a search that has not begun, and whether the caller must start
// the goroutine that makes it.
func (l *searches) want(parent string) (next *search, start bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	next = l.byParent[parent]
	if next == nil {
		if l.byParent == nil {
			l.byParent = map[string]*search{}
		}
		next, start = &search{done: make(chan struct{})}, true
		l.byParent[parent] = next
	}
	next.wanted = true
	return next, start
}

// begin returns the search to make now, which no caller joins any more. It
// returns nil if no caller wants one.
func (l *searches) begin(parent string) *search {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.byParent[parent]
	if !now.wanted {
		delete(l.byParent, parent)
		return nil
	}
	l.byParent[parent] = &search{done: make(chan struct{})}
	return now
}

// foundNodes are the protected nodes that a caller has found below each parent. The
// caller searches each parent once, also if the search fails.
type foundNodes map[string]foundBelow

// foundBelow is the result of a search.
type foundBelow struct {
	byPrefix map[string][]string
	err      error
}

// of returns the names of the nodes below a parent that were made with this id.
func (f foundNodes) of(ctx context.Context, s *Session, parent, guid string) ([]string, error) {
	found, known := f[parent]
	if !known {
		found.byPrefix, found.err = s.protectedBelow(ctx, parent)
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

// protectedBelow returns the protected nodes below a parent, by their prefixes,
// as they are after this call has begun. Thousands of callers cost a few
// requests.
func (s *Session) protectedBelow(ctx context.Context, parent string) (map[string][]string, error) {
	l, start := s.search.want(parent)
	if start { // a closed client starts nothing, but then its sessions have ended, too
		s.client.spawn(func(ctx context.Context) { s.makeSearches(ctx, parent) })
	}
	select {
	case <-l.done:
		return l.found, l.err
	case <-s.ctx.Done():
		return nil, s.sessionError(zk.ErrConnectionClosed)
	case <-ctx.Done():
		return nil, reason.OfContext(ctx)
	}
}

// makeSearches makes the searches of a parent, one after the other, as long as
// a caller wants one. The transaction before each of them makes the server know
// of all writes that earlier connections of the session have sent. Curator
// searches without one.
func (s *Session) makeSearches(ctx context.Context, parent string) {
	for l := s.search.begin(parent); l != nil; l = s.search.begin(parent) {
		siblings, err := afterQuorum(ctx, s, proto.Children(parent, false))
		l.found, l.err = protectedNames(siblings.Names), err
		close(l.done)
	}
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
