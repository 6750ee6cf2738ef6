package framework

import (
	"context"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
)

// findProtected returns the path of the node with this UUID, or nothing. If
// there are several, it is the first by name, and the others are deleted.
func findProtected(ctx context.Context, s *Session, parent, guid string) (string, error) {
	found, err := s.protectedBelow(ctx, parent)
	if reason.Is(err, zk.ErrNoNode) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return s.client.firstOf(parent, found[protectedPrefix(guid)]), nil
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

// deleteProtectedInBackground looks for a node that may or may not have been
// created, and deletes it. If a session is given, which the node may outlive,
// and the look takes place in a later one, it looks until the node cannot come
// any more.
func (c *Client) deleteProtectedInBackground(parent, guid string, s *Session) {
	c.cleanUp(&cleanup{parent: parent, guid: guid, version: AnyVersion, madeIn: s})
}

// deleteMaybeMade deletes a node that a session may have made, or may still make.
// An ephemeral node ends with the session.
func (c *Client) deleteMaybeMade(parent, guid string, s *Session, mode Mode) {
	if mode.ephemeral() {
		s = nil
	}
	c.deleteProtectedInBackground(parent, guid, s)
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
