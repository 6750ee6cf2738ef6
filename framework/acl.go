package framework

import (
	"context"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/proto"
)

// WithACLProvider sets who may do what to the nodes that the client creates.
// The provider is called for each of them, and for each parent and each node of
// the chroot that is created for it, unless the call says WithACL or
// WithParentACL.
//
// The path is the server's: with the chroot and the prefix of a protected node,
// without the number of a sequential one. A list that is empty fails the
// operation with zk.ErrInvalidACL, and opens nothing. The provider may be
// called by several goroutines at once, and more than once for a node that is
// asked for again.
//
// The default lets everyone do everything. Anyone who reaches a server may then
// delete and revoke everybody's locks, write to every node, and create what is
// in the way of a lock. To shut others out, give the client credentials, and
// let only clients with these credentials use its nodes:
//
//	framework.WithAuth("digest", []byte("shop:"+password)),
//	framework.WithACLProvider(func(string) []zk.ACL { return zk.AuthACL(zk.PermAll) }),
//
// The lists are of package github.com/go-zookeeper/zk. All who contend for a
// lock must be allowed to create and delete below its path, and to read each
// other's nodes. An existing path keeps the list that it was created with.
func WithACLProvider(provider func(path string) []zk.ACL) Option {
	return func(c *config) {
		c.aclProvider = provider
		c.require("ACL provider", provider != nil)
	}
}

// openACL lets everyone do everything.
var openACL = toACL(zk.WorldACL(zk.PermAll))

// aclFor returns the access control list of a new node, by its full path: the
// one that the call gave, if it gave one.
func (c *Client) aclFor(path string, given []zk.ACL) ([]proto.ACL, error) {
	switch {
	case given != nil:
		return toACL(given), nil
	case c.cfg.aclProvider == nil:
		return openACL, nil
	}
	acl := c.cfg.aclProvider(path)
	if len(acl) == 0 {
		return nil, fmt.Errorf("%w: the provider has none for %s", zk.ErrInvalidACL, path)
	}
	return toACL(acl), nil
}

// GetACL returns a node's access control list and Stat. A missing node is
// zk.ErrNoNode. The server hides passwords of the digest scheme from clients
// that may not change the list.
func (c *Client) GetACL(ctx context.Context, path string) ([]zk.ACL, *zk.Stat, error) {
	r, err := read(ctx, c, "getACL", path, proto.GetACL(c.full(path)))
	return fromACL(r.ACL), (*zk.Stat)(r.Stat), err
}

// SetACL replaces a node's access control list if the list has the given
// version, and returns the new Stat. The version is the Aversion of the node's
// Stat. AnyVersion always matches. These are errors to match:
//
//   - zk.ErrNoNode for a missing node.
//   - zk.ErrBadVersion for another version.
//   - zk.ErrInvalidACL for a list that is empty, or that the server does not
//     understand.
//
// If the reply is lost, a write with AnyVersion is repeated. For a write with a
// version, the error matches ErrOutcomeUnknown.
func (c *Client) SetACL(ctx context.Context, path string, acl []zk.ACL, version int32) (*zk.Stat, error) {
	if len(acl) == 0 {
		return nil, &OpError{"setACL", path, invalid(zk.ErrInvalidACL, "ACL", "", "must not be empty")}
	}
	return writeStat(ctx, c, "setACL", path, proto.SetACL(c.full(path), toACL(acl), version), version)
}

func toACL(list []zk.ACL) []proto.ACL {
	acl := make([]proto.ACL, len(list))
	for i, a := range list {
		acl[i] = proto.ACL(a)
	}
	return acl
}

func fromACL(list []proto.ACL) []zk.ACL {
	if list == nil {
		return nil
	}
	acl := make([]zk.ACL, len(list))
	for i, a := range list {
		acl[i] = zk.ACL(a)
	}
	return acl
}
