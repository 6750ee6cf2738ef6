package framework

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
)

// newGUID returns a UUID of version 4 in lower case with dashes, the form that
// Curator recognises (ProtectedUtils).
func newGUID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func protectedPrefix(guid string) string { return "_c_" + guid + "-" }

// protectedNames returns the names that have a protection prefix, by that
// prefix.
func protectedNames(names []string) map[string][]string {
	prefixLength := len(protectedPrefix(newGUID()))
	found := map[string][]string{}
	for _, name := range names {
		if len(name) >= prefixLength && strings.HasPrefix(name, "_c_") {
			prefix := name[:prefixLength]
			found[prefix] = append(found[prefix], name)
		}
	}
	return found
}

// findProtected returns the path of the node with this UUID, or nothing. If
// there are several, it is the first by name, and the others are deleted.
func findProtected(ctx context.Context, s *Session, parent, guid string) (string, error) {
	found, err := s.protectedBelow(ctx, parent)
	if reason.Is(err, zk.ErrNoNode) {
		return "", nil
	}
	names := slices.Sorted(slices.Values(found[protectedPrefix(guid)]))
	if err != nil || len(names) == 0 {
		return "", err
	}
	for _, name := range names[1:] {
		s.client.deleteInBackground(znode.Join(parent, name))
	}
	return znode.Join(parent, names[0]), nil
}

// deleteProtectedInBackground looks for a node that may or may not have been
// created, and deletes it. If a session is given, which the node may outlive,
// and the look takes place in a later one, it looks until the node cannot come
// any more.
func (c *Client) deleteProtectedInBackground(parent, guid string, s *Session) {
	c.cleanUp(&cleanup{parent: parent, guid: guid, version: AnyVersion, madeIn: s})
}
