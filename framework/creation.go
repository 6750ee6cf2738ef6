package framework

import (
	"bytes"
	"cmp"
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

	// Version is the version that the call has left the node with. It is 0, except
	// for a node that existed and was written WithOverwrite.
	Version int32

	// Session is the one in which the node was created. An ephemeral node must
	// not be trusted when its context ends.
	Session *Session

	// Siblings are the names of the parent's children right after the creation,
	// the node's own among them. Protected nodes are left out that the client was
	// making when their callers went, and that it deletes. The names are nil unless
	// WithSiblings has asked for them, and also if they could not be had.
	Siblings []string
}

// creation is what a Create asks for, and what its attempts have done.
type creation struct {
	client *Client
	cfg    createConfig
	data   []byte

	protectedNode
	target string // the path to ask the server for

	write     write[*creation, *Created]
	sentIn    *Session // of the request whose answer is awaited, or nil
	made      Created  // the node, with the server's path; zero until an attempt has made it
	abandoned bool     // the caller has gone, and late gets the answer
}

func (n *creation) createWithParents(ctx context.Context, s *Session) (*Created, error) {
	created, err := n.write.request(ctx, s)
	if reason.Is(err, zk.ErrNoNode) && n.mayMakeParents() {
		return n.createAfterParents(ctx, s)
	}
	return created, err
}

// createAfterParents makes the missing parents, and then the node.
func (n *creation) createAfterParents(ctx context.Context, s *Session) (created *Created, err error) {
	err = zk.ErrNoNode
	for tries := 0; reason.Is(err, zk.ErrNoNode) && tries < maxVanished; tries++ {
		if err = n.client.createParents(ctx, s, n.parent, &n.cfg, map[string]bool{}); err == nil {
			created, err = n.write.request(ctx, s)
		}
	}
	return created, err
}

// mayMakeParents reports whether the client may create a missing parent, or the
// chroot itself is the node to create.
func (n *creation) mayMakeParents() bool {
	root := n.client.full("/")
	return n.client.mayMakeParent(n.parent, &n.cfg) || root != "/" && n.target == root
}

// maxVanished bounds how often somebody may delete what a create needs, just
// before it is made: the parents, or the node that is to be written. A server
// that reaps empty containers can do so once.
const maxVanished = 5

func (n *creation) send(ctx context.Context, s *Session) (*Created, error) {
	acl, err := n.client.aclFor(n.target, n.cfg.acl.list)
	if err != nil {
		return nil, err
	}
	gone := n.client.givenUp.under(n.parent)
	creating, listing, err := n.start(ctx, s, proto.Create(newNode(n.target, n.data, acl, &n.cfg)))
	if err != nil {
		return nil, err
	}
	n.sentIn = s
	created, err := creating.await(ctx, nil)
	n.sentIn = nil
	switch {
	case abandoned(ctx, err):
		n.abandon(creating)
		return nil, unknownOutcome(err)
	case err != nil:
		return nil, err
	}
	n.made = Created{Path: created.Path, Czxid: created.Czxid, Session: s}
	n.noteEphemeral(s, created.Path)
	if listing != nil && listing.IsSent() { // otherwise it was not asked for, or the connection had no room for it
		if names, err := listing.await(ctx, nil); err == nil {
			n.made.Siblings = gone.cutFrom(names)
		}
	}
	return &n.made, nil
}

// start makes the request and, if the siblings are asked for, lists them right
// behind it, without waiting in between. The answer to a create that was given up
// before comes ahead of the listing, but perhaps not ahead of the request for it.
func (n *creation) start(
	ctx context.Context, s *Session, q proto.Request[proto.Created],
) (creating *pending[proto.Created], listing *pending[[]string], err error) {
	creating = newPending(s, q)
	if !n.cfg.siblings {
		return creating, nil, s.start(ctx, &creating.Call)
	}
	listing = newPending(s, proto.ChildNames(n.parent))
	return creating, listing, s.start(ctx, &creating.Call, &listing.Call)
}

// abandon has late called with the answer.
func (n *creation) abandon(creating *pending[proto.Created]) {
	n.abandoned = true
	guid := n.guid
	if guid != "" {
		n.client.givenUp.add(&n.protectedNode)
	}
	creating.later(func(answer proto.Created, err error) { n.late(creating.session, guid, answer, err) })
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
	case guid == "":
	case err == nil:
		n.client.deleteInBackground(created.Path)
	case ambiguous(err):
		n.deleteInBackground(s, guid)
	}
	n.client.givenUp.remove(&n.protectedNode)
}

// cleanUp deletes the protected node that a call without a result has left, unless late
// will.
func (n *creation) cleanUp() {
	doubt := cmp.Or(n.write.doubt, n.sentIn)
	switch {
	case n.guid == "" || n.abandoned:
	case n.made.Path != "":
		n.client.deleteInBackground(n.made.Path)
	case doubt != nil:
		n.deleteInBackground(doubt, n.guid)
	}
}

// resolve returns the protected node if an earlier attempt has made it. In a
// later session, a node that is not there may still come: the create takes
// another id then, and leaves the old one to the clean-up. If the node's list gives
// us no right to read it, servers of 3.8.4 and of 3.9 refuse the look, and the
// outcome stays unknown.
func (n *creation) resolve(ctx context.Context, s *Session) (created *Created, applied bool, err error) {
	sessionLost := n.write.doubt != s
	if n.cfg.mode.ephemeral() && sessionLost {
		n.giveUpNode()
		return nil, false, nil
	}
	names, err := foundNodes{}.of(ctx, s, n.parent, n.guid)
	path := n.client.firstOf(n.parent, names)
	var stat *proto.Stat
	if path != "" {
		stat, err = send(ctx, s, proto.Exists(path, false), nil)
	}
	switch {
	case err != nil:
		return nil, false, err
	case stat == nil && sessionLost:
		n.giveUpNode()
		return nil, false, nil
	case stat == nil:
		return nil, false, nil
	}
	n.made = Created{Path: path, Czxid: stat.Czxid, Session: s}
	n.noteEphemeral(s, path)
	return &n.made, true, nil
}

// giveUpNode gives up a node that an earlier attempt may have made, or may still
// make, in a session that is over. An ephemeral one would vanish under us
// (CURATOR-498).
func (n *creation) giveUpNode() {
	lost := n.write.doubt
	n.write.doubt = nil
	n.deleteInBackground(lost, n.guid)
	guid := znode.GUID()
	n.target = strings.Replace(n.target, protectedPrefix(n.guid), protectedPrefix(guid), 1)
	n.guid = guid
}

// deleteInBackground deletes the node with this id, if the session has made it,
// or still makes it.
func (n *creation) deleteInBackground(s *Session, guid string) {
	n.client.deleteMaybeMade(n.parent, guid, s, n.cfg.mode)
}

// upsert makes the node, or does with one that exists what WithOverwrite and
// WithIdempotence say. An attempt that follows a lost reply does not ask who has
// made the node that it finds.
func (n *creation) upsert(ctx context.Context, s *Session) (*Created, error) {
	for tries := 0; ; tries++ {
		created, err := n.createUnlessRoot(ctx, s)
		if !reason.Is(err, zk.ErrNodeExists) {
			return created, err
		}
		created, err = n.takeExisting(ctx, s)
		if !reason.Is(err, zk.ErrNoNode) || tries == maxVanished {
			return created, err
		}
	}
}

// createUnlessRoot does not ask the server for "/", which always exists.
func (n *creation) createUnlessRoot(ctx context.Context, s *Session) (*Created, error) {
	if n.target == "/" {
		return nil, zk.ErrNodeExists
	}
	return n.createWithParents(ctx, s)
}

// takeExisting makes a node that exists as it was asked for, or returns
// zk.ErrNoNode if it does not exist any more.
func (n *creation) takeExisting(ctx context.Context, s *Session) (*Created, error) {
	var stat *proto.Stat
	var err error
	if n.cfg.orSet {
		stat, err = send(ctx, s, proto.SetData(n.target, n.data, n.cfg.orVersion), nil)
		err = n.write.noteOutcome(s, err)
	} else {
		stat, err = n.readEqual(ctx, s)
	}
	if err != nil {
		return nil, err
	}
	return &Created{Path: n.target, Czxid: stat.Czxid, Version: stat.Version, Session: s}, nil
}

// readEqual returns the node's Stat if the node is as the call would have made it.
// The server that reported the node has seen it made, so there is no need for a
// sync.
func (n *creation) readEqual(ctx context.Context, s *Session) (*proto.Stat, error) {
	now, err := send(ctx, s, proto.GetData(n.target, false), nil)
	if err == nil && (now.Stat.Version != 0 || !bytes.Equal(now.Data, n.data)) {
		err = zk.ErrNodeExists
	}
	return now.Stat, err
}
