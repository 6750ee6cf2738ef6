package framework

import (
	"context"
	"crypto/rand"
	"fmt"
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
func protectedNames(names []string) map[string]string {
	prefixLength := len(protectedPrefix(newGUID()))
	found := map[string]string{}
	for _, name := range names {
		if len(name) >= prefixLength && strings.HasPrefix(name, "_c_") {
			found[name[:prefixLength]] = name
		}
	}
	return found
}

// findProtected returns the path of the node with this UUID, or nothing.
func findProtected(ctx context.Context, s *Session, parent, guid string) (string, error) {
	names, err := s.protectedBelow(ctx, parent)
	if reason.Is(err, zk.ErrNoNode) {
		return "", nil
	}
	name, there := names[protectedPrefix(guid)]
	if err != nil || !there {
		return "", err
	}
	return znode.Join(parent, name), nil
}

// deleteProtectedInBackground looks for a node that may or may not have been
// created, and deletes it.
func (c *Client) deleteProtectedInBackground(parent, guid string) {
	c.cleanUp(&cleanup{parent: parent, guid: guid, version: AnyVersion})
}
