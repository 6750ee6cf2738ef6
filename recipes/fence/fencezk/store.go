package fencezk

import (
	"context"
	"fmt"
	"net/url"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
	"github.com/gocurator/curator/recipes/fence"
	"github.com/gocurator/curator/recipes/internal/token"
)

// NewStore returns a fence.Store that has one persistent node for each resource, below a
// path of the client. The name of the node is the name of the resource, escaped as in a
// URL, and the data is the result of fence.Outgoing. The first Raise creates the node,
// and missing parents.
//
// Raise costs a read and a write: a Set for a larger token, and a transaction that changes
// nothing for an equal one. If the reply to a write is lost, the error matches
// framework.ErrOutcomeUnknown, and Raise is safe to repeat. Never delete a node, which
// would forget its token.
func NewStore(c *framework.Client, path string) fence.Store { return &store{c, path} }

type store struct {
	client *framework.Client
	path   string
}

// Raise reads the node and writes on condition that its version has not changed, and
// repeats both if another client has written in between. The read may return old data, so
// Raise admits an equal token only if the node still has that version. Raise refuses a
// smaller token at once, because tokens only grow.
func (s *store) Raise(ctx context.Context, resource string, lease fence.Lease) error {
	if s.client == nil {
		return isNil("client")
	}
	if lease == nil {
		return isNil("lease")
	}
	if err := framework.ValidatePath(s.path); err != nil {
		return fmt.Errorf("fencezk: the store's path %q: %w", s.path, err)
	}
	node := znode.Join(s.path, url.PathEscape(resource))
	text := token.Text(lease.FencingToken(), lease.Path())
	if _, _, err := token.Parse(text); err != nil { // as data, it would make each later Raise fail
		return &framework.ConfigError{Name: "lease", Value: text, Reason: "must have a positive token and the path of a node"}
	}
	for {
		data, stat, err := s.client.Get(ctx, node)
		if reason.Is(err, zk.ErrNoNode) {
			_, err = s.client.Create(ctx, node, []byte(text), framework.WithPersistentParents())
		} else if err == nil {
			err = s.raise(ctx, node, data, stat.Version, text, lease)
		}
		if !reason.Is(err, zk.ErrNodeExists) && !reason.Is(err, zk.ErrBadVersion) {
			return err
		}
	}
}

// raise compares the token with the data that was read, and raises it.
func (s *store) raise(
	ctx context.Context, node string, data []byte, version int32, text string, lease fence.Lease,
) error {
	newest, owner, err := token.Parse(string(data))
	switch {
	case err != nil:
		return fmt.Errorf("fencezk: %s: %w", node, err)
	case newest > lease.FencingToken():
		return &fence.StaleError{Token: lease.FencingToken(), Owner: lease.Path(), NewestToken: newest, NewestOwner: owner}
	case newest == lease.FencingToken():
		_, err = s.client.Transaction(ctx, framework.CheckOp(node, version))
	default:
		_, err = s.client.Set(ctx, node, []byte(text), version)
	}
	return err
}
