package framework

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/go-zookeeper/zk"
)

// newGUID returns a UUID of version 4 in lower case with dashes, the form that Curator recognises (ProtectedUtils).
func newGUID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func protectedPrefix(guid string) string { return "_c_" + guid + "-" }

// findProtected returns the path of the node with this UUID, or nothing. The sync before the search makes the server
// know of everything that earlier connections of the session have sent; Curator leaves it out.
func findProtected(ctx context.Context, s *Session, parent, guid string) (string, error) {
	siblings, err := afterSync(ctx, s, parent, children)
	if errors.Is(err, zk.ErrNoNode) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	for _, name := range siblings.names {
		if strings.HasPrefix(name, protectedPrefix(guid)) {
			return joinPath(parent, name), nil
		}
	}
	return "", nil
}

// deleteProtectedInBackground looks for a node that may or may not have been created, and deletes it.
func (c *Client) deleteProtectedInBackground(parent, guid string) {
	c.inBackground(func(ctx context.Context, s *Session) error {
		path, err := findProtected(ctx, s, parent, guid)
		if path == "" || err != nil {
			return err
		}
		d := deleteAttempts{path: path, version: AnyVersion, guaranteed: true}
		return d.attempt(ctx, s)
	})
}
