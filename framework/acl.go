package framework

import (
	"context"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/proto"
)

// WithACLProvider sets the access control lists of the nodes that the client creates.
// The client calls the provider for each such node, including missing parents and nodes
// of the chroot, unless the operation has WithACL or WithParentACL.
//
// The path is the server's path: it includes the chroot and the prefix of a protected
// node, but not the number of a sequential node. If the list is empty, the operation
// fails with zk.ErrInvalidACL. Several goroutines may call the provider at the same
// time, and it may be called again when a create is repeated.
//
// By default, everyone may do everything: anyone who reaches a server may delete or
// revoke any lock, write to every node, and block a lock with other nodes. To exclude
// strangers, give the client credentials, and let only clients with these credentials
// use its nodes:
//
//	framework.WithAuth("digest", []byte("shop:"+password)),
//	framework.WithACLProvider(func(string) []zk.ACL { return zk.AuthACL(zk.PermAll) }),
//
// Package github.com/go-zookeeper/zk has the lists. All contenders for a lock must be
// allowed to create and delete below its path, and to read each other's nodes. An
// existing path keeps the list from its creation.
func WithACLProvider(provider func(path string) []zk.ACL) Option {
	return func(c *config) {
		c.aclProvider = provider
		c.require("ACL provider", provider != nil)
	}
}

// openACL lets everyone do everything.
var openACL = zk.WorldACL(zk.PermAll)

// aclFor returns the access control list of a new node, by its full path: the call's
// own list, or else the provider's.
func (c *Client) aclFor(path string, given []zk.ACL) ([]zk.ACL, error) {
	switch {
	case given != nil:
		return given, nil
	case c.cfg.aclProvider == nil:
		return openACL, nil
	}
	acl := c.cfg.aclProvider(path)
	if len(acl) == 0 {
		return nil, fmt.Errorf("%w: the provider has none for %s", zk.ErrInvalidACL, path)
	}
	return acl, nil
}

// GetACL returns a node's access control list and Stat. A missing node is
// zk.ErrNoNode. The server hides passwords of the digest scheme from clients
// that may not change the list.
func (c *Client) GetACL(ctx context.Context, path string) ([]zk.ACL, *zk.Stat, error) {
	r, err := read(ctx, c, "getACL", path, proto.GetACL(c.full(path)))
	return r.ACL, r.Stat, err
}

// SetACL replaces a node's access control list if the list has the given
// version, and returns the new Stat. The version is the Aversion of the node's
// Stat. AnyVersion always matches. These are errors to match:
//
//   - zk.ErrNoNode for a missing node.
//   - zk.ErrBadVersion for another version.
//   - zk.ErrInvalidACL for a list that is empty or not understood by the server.
//
// If the reply is lost, a write with AnyVersion is repeated. For a write with a
// version, the error matches ErrOutcomeUnknown.
func (c *Client) SetACL(ctx context.Context, path string, acl []zk.ACL, version int32) (*zk.Stat, error) {
	if len(acl) == 0 {
		return nil, &OpError{"setACL", path, invalid(zk.ErrInvalidACL, "ACL", "", "must not be empty")}
	}
	return writeStat(ctx, c, "setACL", path, proto.SetACL(c.full(path), acl, version), version)
}
