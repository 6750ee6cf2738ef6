package framework

import (
	"cmp"
	"context"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
)

// Create creates a node. These are errors to match:
//
//   - zk.ErrNodeExists for a node that exists.
//   - zk.ErrNoNode for a missing parent.
//   - zk.ErrNoChildrenForEphemerals for a parent that is ephemeral.
//
// Create also creates missing nodes of the view's own chroot and namespace, as
// containers, with the first node right below them. It creates other parents only
// WithParents.
//
// The existing node may be an ephemeral node of this client's last session: the client
// gives a session up before the server ends it and deletes its nodes. Wait for that
// with ExistsW, or delete the node if its Stat's EphemeralOwner is the old session's
// ID; see the example of Session.
//
// If the reply is lost, the options decide what follows:
//
//   - A node WithProtection is looked up by its name, and created again if it does not
//     exist. In a later session the new node gets another name: a server may still
//     create the first node, which the client then deletes in the background.
//   - A create WithOverwrite of AnyVersion or WithIdempotence is repeated.
//   - For every other create, the error matches ErrOutcomeUnknown, and the node may
//     exist. That includes an ephemeral node without WithProtection: its Stat's
//     EphemeralOwner shows which session has created it, but not which of two callers
//     of the same client.
//
// The error also matches ErrOutcomeUnknown if ctx ends while the reply is awaited. The
// client then deletes a protected node in the background, also if a hook panics at the
// end of the call.
//
// Create may send data several times. The caller must not change data until Create
// returns.
func (c *Client) Create(
	ctx context.Context, path string, data []byte, opts ...CreateOption,
) (created Created, err error) {
	n := &creation{client: c, data: data}
	if err := n.cfg.configure(path, opts); err != nil {
		return Created{}, &OpError{"create", path, err}
	}
	n.resolveTarget(c.full(path))
	defer func() {
		if created.Path == "" { // also if a hook panics
			n.cleanUp()
		}
	}()
	made, err := n.write.do(ctx, c, "create", path)
	if err != nil {
		return Created{}, err
	}
	created = *made
	created.Path = c.local(created.Path)
	return created, nil
}

// resolveTarget decides the path of the request, and the behaviour of the write after a
// lost reply.
func (n *creation) resolveTarget(path string) {
	parent, name := znode.Split(path)
	n.parent, n.target = parent, path
	n.write = write[*creation, *Created]{
		of: n, send: (*creation).send, resolve: (*creation).resolve, attempt: (*creation).createWithParents,
	}
	switch {
	case n.cfg.isUpsert():
		n.write.attempt = (*creation).upsert
		if n.cfg.idempotent || n.cfg.orVersion == AnyVersion {
			n.write.onLostReply = sendAgain
		}
	case n.cfg.protected:
		n.guid = znode.GUID()
		n.target = n.path(name)
		n.write.onLostReply = lookUp
	}
}

// creation is the state of one Create: its arguments, and the results of its attempts.
type creation struct {
	client *Client
	cfg    createConfig
	data   []byte

	protectedNode
	target string // the path to ask the server for

	write     write[*creation, *Created]
	sentIn    *Session // the session of the request whose answer is awaited, or nil
	made      Created  // the node, with the server's path; zero until an attempt has made it
	abandoned bool     // the caller has given up, and the method late gets the answer
}

func (n *creation) createWithParents(ctx context.Context, s *Session) (*Created, error) {
	created, err := n.write.request(ctx, s)
	if reason.Is(err, zk.ErrNoNode) && n.mayMakeParents() {
		return n.createAfterParents(ctx, s)
	}
	return created, err
}

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
	var names []string // nil unless they were requested, and the connection had room for that
	if listing != nil && listing.IsSent() {
		names, _ = listing.await(ctx, nil) // answered last, so that the caller is woken once
	}
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
	n.made.Siblings = gone.cutFrom(names)
	return &n.made, nil
}

// start sends the request and, if the siblings are wanted, the listing right after it,
// without waiting in between. The answer to an earlier create that was given up arrives
// before the listing, but may arrive after the request for the listing was sent.
func (n *creation) start(
	ctx context.Context, s *Session, q proto.Request[proto.Created],
) (creating *pending[proto.Created], listing *pending[[]string], err error) {
	creating = newPending(s, q)
	if !n.cfg.siblings {
		return creating, nil, start(ctx, s, &creating.Call)
	}
	listing = newPending(s, proto.ChildNames(n.parent))
	return creating, listing, start(ctx, s, &creating.Call, &listing.Call)
}

// abandon makes late receive the answer about a protected node. Any other node cannot be
// distinguished from another client's.
func (n *creation) abandon(creating *pending[proto.Created]) {
	n.abandoned = true
	if n.guid != "" {
		n.client.givenUp.add(&n.protectedNode)
		creating.later(func(answer proto.Created, err error) { n.late(creating.session, answer, err) })
	}
}

// late gets the result of a create whose caller has given up, and deletes the node.
func (n *creation) late(s *Session, created proto.Created, err error) {
	switch {
	case err == nil:
		n.client.deleteInBackground(created.Path)
	case ambiguous(err):
		n.deleteInBackground(s, n.guid)
	}
	n.client.givenUp.remove(&n.protectedNode)
}

// cleanUp deletes the protected node that a failed call has left, unless late will.
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

// resolve returns the protected node if an earlier attempt has made it. In a later
// session, a missing node may still be created by a late request: the create then uses
// another id, and leaves the old one to the clean-up. If the client may not read the
// node, servers 3.8.4 and 3.9 refuse the look-up, and the outcome stays unknown.
func (n *creation) resolve(ctx context.Context, s *Session) (created *Created, applied bool, err error) {
	sessionLost := n.write.doubt != s
	if n.cfg.mode.ephemeral() && sessionLost {
		n.giveUpNode()
		return nil, false, nil
	}
	names, err := foundNodes{}.of(ctx, s, n.parent, n.guid)
	path := n.client.firstOf(n.parent, names)
	var stat *zk.Stat
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
	return &n.made, true, nil
}

// giveUpNode gives up a node that an earlier attempt may have created, or may still
// create, in a session that is over. If that node is ephemeral, it would vanish while
// the client uses it (CURATOR-498).
func (n *creation) giveUpNode() {
	lost := n.write.doubt
	n.write.doubt = nil
	n.deleteInBackground(lost, n.guid)
	guid := znode.GUID()
	n.target = strings.Replace(n.target, protectedPrefix(n.guid), protectedPrefix(guid), 1)
	n.guid = guid
}

// deleteInBackground deletes the node with this id, if the session has created it or
// still does.
func (n *creation) deleteInBackground(s *Session, guid string) {
	n.client.deleteMaybeMade(n.parent, guid, s, n.cfg.mode)
}
