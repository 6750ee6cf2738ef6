package framework

import (
	"context"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
)

// Created is a node that Create has made.
type Created struct {
	// Path is the node's path, with the protection prefix and the sequence
	// number, if it has them.
	Path string

	// Czxid is the id of the transaction that made the node. If two nodes are
	// created anywhere in the ensemble, the later one has the larger Czxid.
	Czxid int64

	// Session is the one in which the node was created. An ephemeral node must
	// not be trusted when its context ends.
	Session *Session

	// Siblings are the names of the parent's children right after the creation,
	// the node's own among them. They are nil unless WithSiblings has asked for
	// them, and also if they could not be had.
	Siblings []string
}

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
	n := &creation{client: c, data: data}
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
	err := reason.ErrPanicked // unless do returns
	defer func() { n.cleanUp(err) }()
	created, err := n.write.do(ctx, c, "create", path)
	if err != nil {
		return Created{}, err
	}
	created.Path = c.local(created.Path)
	return created, nil
}

// creation is what a Create asks for, and what its attempts have done.
type creation struct {
	client *Client
	cfg    createConfig
	data   []byte

	guid   string // protection; empty if there is none
	parent string
	target string // the path to ask the server for

	write     write[Created]
	set       *write[*zk.Stat] // for WithOverwrite
	made      Created          // by an attempt, with the server's path, or the zero value
	abandoned bool             // the caller has gone, and late gets the answer
	maybeMade bool             // an earlier attempt may have made a node that is not the one to return
	reserved  *reservation     // of a node that is recognised by its owner
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
		n.guid = newGUID()
		n.target = znode.Join(parent, protectedPrefix(n.guid)+name)
		n.write.onLostReply = lookUp
	case n.cfg.isRecognisedByOwner():
		n.write.onLostReply = lookUp
		n.write.partly = func(error) bool { return n.maybeMade }
	}
}

func (n *creation) createWithParents(ctx context.Context, s *Session) (Created, error) {
	created, err := n.write.request(ctx, s)
	for tries := 0; reason.Is(err, zk.ErrNoNode) && n.mayMakeParents() && tries < maxVanished; tries++ {
		if err = n.createParents(ctx, s); err == nil {
			created, err = n.write.request(ctx, s)
		}
	}
	return created, err
}

// maxVanished bounds how often somebody may delete what a create needs, just
// before it is made: the parents, or the node that is to be written. A server
// that reaps empty containers can do so once.
const maxVanished = 5

func (n *creation) send(ctx context.Context, s *Session) (Created, error) {
	acl, err := n.client.aclFor(n.target, n.cfg.acl.list)
	if err != nil {
		return Created{}, err
	}
	guid := n.guid
	q := proto.Create(newNode(n.target, n.data, acl, &n.cfg))
	late := func(answer proto.Created, err error) { n.late(s, guid, answer, err) }
	created, siblings, err := n.sendAndList(ctx, s, q, late)
	if abandoned(ctx, err) {
		n.abandoned = true
		return Created{}, unknownOutcome(err)
	}
	if err != nil {
		return Created{}, err
	}
	n.made = Created{Path: created.Path, Czxid: created.Czxid, Session: s, Siblings: siblings}
	n.noteEphemeral(s, created.Path)
	return n.made, nil
}

// newNode is the request's form of a node with this path.
func newNode(path string, data []byte, acl []proto.ACL, cfg *createConfig) proto.NewNode {
	return proto.NewNode{
		Path: path, Data: data, ACL: acl, Mode: int32(cfg.mode), TTLMillis: cfg.ttl.Milliseconds(),
	}
}

// sendAndList makes the request and, if the siblings are asked for, lists them
// right behind it, without waiting in between.
func (n *creation) sendAndList(
	ctx context.Context, s *Session, q proto.Request[proto.Created], late func(proto.Created, error),
) (created proto.Created, siblings []string, err error) {
	if !n.cfg.siblings {
		created, err = send(ctx, s, q, late)
		return created, nil, err
	}
	creating, listing, err := startBoth(ctx, s, q, proto.Children(n.parent, false))
	if err != nil {
		return created, nil, err
	}
	created, err = creating.await(ctx, late)
	if err != nil || listing.call == nil {
		return created, nil, err
	}
	if found, err := listing.await(ctx, nil); err == nil {
		siblings = found.Names
	}
	return created, siblings, nil
}

func (n *creation) noteEphemeral(s *Session, path string) {
	if n.cfg.mode.ephemeral() {
		s.ephemeralCreated(path)
	}
}

// late gets the result of a create whose caller has gone. A protected node is
// deleted: only such a node can be told from another's.
func (n *creation) late(s *Session, guid string, created proto.Created, err error) {
	if err == nil {
		n.noteEphemeral(s, created.Path)
	}
	switch {
	case guid != "" && err == nil:
		n.client.deleteInBackground(created.Path)
	case guid != "" && ambiguous(err):
		n.deleteInBackground(s, guid)
	case n.reserved != nil && ambiguous(err):
		n.client.resolveInBackground(n.reserved, s)
	case n.reserved != nil:
		n.reserved.release(created.Czxid)
	}
}

// cleanUp deletes or releases what the last attempt has left, unless late will.
// A node that was made, and of which the caller is not told, is one of a call
// that has panicked.
func (n *creation) cleanUp(err error) {
	made := n.made.Path != ""
	inDoubt := err != nil && !made && n.write.doubt != nil
	switch {
	case n.abandoned:
	case n.guid != "" && inDoubt:
		n.deleteInBackground(n.write.doubt, n.guid)
	case n.guid != "" && made && err != nil:
		n.client.deleteInBackground(n.made.Path)
	case n.reserved != nil && inDoubt:
		n.client.resolveInBackground(n.reserved, n.write.doubt)
	case n.reserved != nil:
		n.reserved.release(n.made.Czxid)
	}
}

// resolve returns the node if an earlier attempt has made it. In a later
// session, one that is not there may still come: a protected create takes
// another id then, and leaves the old one to the clean-up.
func (n *creation) resolve(ctx context.Context, s *Session) (created Created, applied bool, err error) {
	if n.cfg.mode.ephemeral() && n.write.doubt != s {
		n.giveUpNode()
		return Created{}, false, nil
	}
	path, stat, err := n.find(ctx, s)
	switch {
	case err != nil:
		return Created{}, false, err
	case stat == nil && n.guid != "" && n.write.doubt != s:
		n.giveUpNode()
		return Created{}, false, nil
	case stat == nil:
		return Created{}, false, nil
	case n.reserved != nil && !n.reserved.made(stat, s):
		n.write.doubt = nil                                 // another's node is in the way
		n.maybeMade = n.maybeMade || !n.write.existed(stat) // and ours may have been there before it
		return Created{}, false, zk.ErrNodeExists
	}
	n.made = Created{Path: path, Czxid: stat.Czxid, Session: s}
	n.noteEphemeral(s, path)
	return n.made, true, nil
}

// find looks for the node that an earlier attempt may have made. If that gives us
// no right to read it, servers of 3.8.4 and of 3.9 refuse the look, and the
// outcome stays unknown. After a search, the server knows already of all writes
// that earlier connections have sent.
func (n *creation) find(ctx context.Context, s *Session) (path string, stat *proto.Stat, err error) {
	if n.guid == "" {
		stat, err = afterQuorum(ctx, s, proto.Exists(n.target, false))
		return n.target, stat, err
	}
	path, err = findProtected(ctx, s, n.parent, n.guid)
	if path != "" && err == nil {
		stat, err = send(ctx, s, proto.Exists(path, false), nil)
	}
	return path, stat, err
}

// giveUpNode gives up a node that an earlier attempt may have made, or may still
// make, in a session that is over. An ephemeral one would vanish under us
// (CURATOR-498).
func (n *creation) giveUpNode() {
	lost := n.write.doubt
	n.write.doubt = nil
	if n.guid == "" {
		n.maybeMade = true
		return
	}
	n.deleteInBackground(lost, n.guid)
	guid := newGUID()
	n.target = strings.Replace(n.target, protectedPrefix(n.guid), protectedPrefix(guid), 1)
	n.guid = guid
}

// deleteInBackground deletes the node with this id, if the session has made it,
// or still makes it. An ephemeral node ends with the session.
func (n *creation) deleteInBackground(s *Session, guid string) {
	if n.cfg.mode.ephemeral() {
		s = nil
	}
	n.client.deleteProtectedInBackground(n.parent, guid, s)
}
