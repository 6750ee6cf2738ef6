package framework

import (
	"context"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/framework/internal/transport"
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
	// the node's own among them. Protected nodes are left out that the client was
	// making when their callers went, and that it deletes. The names are nil unless
	// WithSiblings or AlsoSiblings has asked for them, and also if they could not be had.
	Siblings []string
}

// creation is what a Create asks for, and what its attempts have done.
type creation struct {
	client *Client
	cfg    createConfig
	data   []byte

	protectedNode
	target string // the path to ask the server for

	write     write[Created]
	set       *write[*zk.Stat] // for WithOverwrite
	sentIn    *Session         // the last attempt's; nil if nothing was sent
	made      Created          // the node, with the server's path; zero until an attempt has made it
	abandoned bool             // the caller has gone, and late gets the answer
	maybeMade bool             // an earlier attempt may have made a node that is not the one to return
	reserved  *reservation     // nil unless the node is recognised by its owner
}

func (n *creation) createWithParents(ctx context.Context, s *Session) (Created, error) {
	created, err := n.write.request(ctx, s)
	for tries := 0; reason.Is(err, zk.ErrNoNode) && n.mayMakeParents() && tries < maxVanished; tries++ {
		if _, err = n.client.createParents(ctx, s, n.parent, &n.cfg, map[string]bool{}); err == nil {
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

func (n *creation) send(ctx context.Context, s *Session) (Created, error) {
	acl, err := n.client.aclFor(n.target, n.cfg.acl.list)
	if err != nil {
		return Created{}, err
	}
	guid := n.guid
	q := proto.Create(newNode(n.target, n.data, acl, &n.cfg))
	late := func(answer proto.Created, err error) { n.late(s, guid, answer, err) }
	n.sentIn = s
	created, siblings, err := n.sendAndList(ctx, s, q, late)
	if abandoned(ctx, err) {
		n.abandoned = true
		if guid != "" {
			n.client.givenUp.add(&n.protectedNode)
		}
		return Created{}, unknownOutcome(err)
	}
	if err != nil {
		return Created{}, err
	}
	n.made = Created{Path: created.Path, Czxid: created.Czxid, Session: s, Siblings: siblings}
	n.noteEphemeral(s, created.Path)
	return n.made, nil
}

// sendAndList makes the request and, if the siblings are asked for, lists them
// right behind it, and perhaps the children of another node behind that, without
// waiting in between. The answer to a create that was
// given up before comes ahead of the listing, but perhaps not ahead of the
// request for it.
func (n *creation) sendAndList(
	ctx context.Context, s *Session, q proto.Request[proto.Created], late func(proto.Created, error),
) (created proto.Created, siblings []string, err error) {
	n.cfg.also.forget()
	if !n.cfg.siblings {
		created, err = send(ctx, s, q, late)
		return created, nil, err
	}
	siblingsOf, also := n.client.listOf(n.parent), n.cfg.also
	requests := [transport.Together]transport.Request{onWire(q), onWire(siblingsOf.request)}
	all := requests[:2]
	var alsoOf list
	if also != nil {
		alsoOf = n.client.listOf(also.parent)
		all = append(all, onWire(alsoOf.request))
	}
	calls, err := s.startAll(ctx, all...)
	if err != nil {
		return created, nil, err
	}
	created, err = pending[proto.Created]{session: s, request: q, call: calls[0]}.await(ctx, late)
	if err != nil {
		return created, nil, err
	}
	siblings = siblingsOf.await(ctx, s, calls[1]).Names
	if also != nil {
		*also.into = alsoOf.await(ctx, s, calls[2])
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
	n.client.givenUp.remove(&n.protectedNode)
}

// cleanUp deletes or releases what the last attempt has left, unless late will.
// If a node was made and err is not nil, the call has panicked.
func (n *creation) cleanUp(err error) {
	made := n.made.Path != ""
	doubt := n.write.doubt
	if doubt == nil && reason.Is(err, reason.ErrPanicked) {
		doubt = n.sentIn // the answer may still come
	}
	inDoubt := err != nil && !made && doubt != nil
	switch {
	case n.abandoned:
	case n.guid != "" && inDoubt:
		n.deleteInBackground(doubt, n.guid)
	case n.guid != "" && made && err != nil:
		n.client.deleteInBackground(n.made.Path)
	case n.reserved != nil && inDoubt:
		n.client.resolveInBackground(n.reserved, doubt)
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
		n.maybeMade = true // somebody may have deleted it
		return Created{}, false, nil
	case n.reserved != nil && !n.reserved.made(stat, s):
		n.write.doubt = nil                                 // another's node is in the way
		n.maybeMade = n.maybeMade || !n.write.existed(stat) // ours may have been there before that
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
	guid := znode.GUID()
	n.target = strings.Replace(n.target, protectedPrefix(n.guid), protectedPrefix(guid), 1)
	n.guid = guid
}

// deleteInBackground deletes the node with this id, if the session has made it,
// or still makes it.
func (n *creation) deleteInBackground(s *Session, guid string) {
	n.client.deleteMaybeMade(n.parent, guid, s, n.cfg.mode)
}
