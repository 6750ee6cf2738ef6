package framework

import (
	"bytes"
	"context"

	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
)

// Create creates a node. These are errors to match:
//
//   - zk.ErrNodeExists for a node that exists.
//   - zk.ErrNoNode for a missing parent.
//   - zk.ErrNoChildrenForEphemerals for a parent that is ephemeral.
//
// Missing nodes of the view's own chroot and namespace are created, as
// containers, with the first node right below them. Other parents are created
// only WithParents.
//
// The node that exists may be an ephemeral one of this client's last session: a
// session is given up before the server ends it, and with it its nodes. Wait
// for that with ExistsW, or delete the node if its Stat's EphemeralOwner is the
// old session's ID; see the example of Session.
//
// If the reply is lost, the options decide what follows:
//
//   - A node WithProtection is looked for by its name, and created again if it
//     is not there. In a later session the new node gets another name: a server
//     may still create the first one, and the client deletes it in the background.
//   - A create WithOverwrite of AnyVersion or WithIdempotence is repeated.
//   - For every other create, the error matches ErrOutcomeUnknown, and the node
//     may exist. That includes an ephemeral node without WithProtection. Its
//     Stat's EphemeralOwner tells which session has created it, but not which of
//     two callers of the same client.
//
// The error also matches ErrOutcomeUnknown if ctx ends while the reply is
// awaited. The client then deletes a protected node in the background. It also
// does so if a hook panics at the end of the call.
func (c *Client) Create(ctx context.Context, path string, data []byte, opts ...CreateOption) (Created, error) {
	n := &creation{client: c, data: bytes.Clone(data)} // a request outlasts a caller whose ctx ends
	if err := n.cfg.configure(path, opts); err != nil {
		return Created{}, &OpError{"create", path, err}
	}
	n.resolveTarget(c.full(path))
	err := reason.ErrPanicked // it stays if do panics
	defer func() { n.cleanUp(err) }()
	created, err := n.write.do(ctx, c, "create", path)
	if err != nil {
		return Created{}, err
	}
	created.Path = c.local(created.Path)
	return created, nil
}

// resolveTarget decides the path to ask for, and how its write behaves.
func (n *creation) resolveTarget(path string) {
	parent, name := znode.Split(path)
	n.parent, n.target = parent, path
	n.write = write[Created]{send: n.send, resolve: n.resolve, attempt: n.createWithParents}
	switch {
	case n.cfg.isUpsert():
		n.write.attempt = n.upsert
		if n.cfg.idempotent || n.cfg.orVersion == AnyVersion {
			n.write.onLostReply = sendAgain
		}
	case n.cfg.protected:
		n.guid = znode.GUID()
		n.target = protectedPath(parent, n.guid, name)
		n.write.onLostReply = lookUp
	}
}
