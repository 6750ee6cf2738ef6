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
// If the connection breaks while the reply is awaited, the node decides what
// follows:
//
//   - A protected node is looked for by its name, and created again if it is
//     not there. In a later session, it gets another name: the first may still
//     come, and the client deletes it in the background.
//   - An ephemeral node that is not sequential is ours if its owner is the
//     session: a client makes one such node of a path at a time. If it is not
//     there, it is created again, also in the next session. If that fails, or
//     another's node is there, the error matches ErrOutcomeUnknown, too, unless
//     the other node is older than the request: the node may have been made, in
//     the session that was lost, or before somebody deleted it.
//   - WithOverwrite and WithIdempotence say what they do.
//   - For every other node, the error matches ErrOutcomeUnknown.
//
// The error also matches ErrOutcomeUnknown if ctx ends while the reply is
// awaited. The client then deletes a protected node in the background, and so
// it does if a hook panics at the end of the call.
func (c *Client) Create(ctx context.Context, path string, data []byte, opts ...CreateOption) (Created, error) {
	n := &creation{client: c, data: bytes.Clone(data)} // a request outlasts a caller whose ctx ends
	if err := n.cfg.configure(path, opts); err != nil {
		return Created{}, &OpError{"create", path, err}
	}
	n.resolveTarget(c.full(path))
	if n.cfg.isRecognisedByOwner() {
		r, err := c.reserve(ctx, n.target)
		if err != nil {
			return Created{}, &OpError{"create", path, err}
		}
		n.reserved = r
	}
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
	n.write = write[Created]{
		send: n.send, onLostReply: giveUp, resolve: n.resolve, attempt: n.createWithParents,
	}
	switch {
	case n.cfg.isUpsert():
		n.set = newSet(path, n.data, n.cfg.orVersion, setConfig{n.cfg.idempotent})
		n.write.onLostReply = sendAgain
		n.write.attempt = n.upsert
		n.write.partly = func(err error) bool { return n.set.mayBeApplied(err) }
	case n.cfg.protected:
		n.guid = znode.GUID()
		n.target = protectedPath(parent, n.guid, name)
		n.write.onLostReply = lookUp
	case n.cfg.isRecognisedByOwner():
		n.write.onLostReply = lookUp
		n.write.partly = func(error) bool { return n.maybeMade }
	}
}
