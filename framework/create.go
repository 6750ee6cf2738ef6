package framework

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"
)

// Created is a node that Create has made.
type Created struct {
	// Path is the node's path, with the protection prefix and the sequence number, if it has them.
	Path string

	// Czxid is the id of the transaction that made the node. Of two nodes anywhere in the ensemble, the one that was
	// created later has the larger one.
	Czxid int64

	// Session is the one in which the node was created. An ephemeral node must not be trusted when its context ends.
	Session *Session

	// Siblings are the names of the parent's children right after the creation, the node's own among them. They are nil
	// unless WithSiblings has asked for them, and also if they could not be had.
	Siblings []string
}

// Create creates a node.
//
// An existing node is zk.ErrNodeExists, a missing parent zk.ErrNoNode, a parent that is ephemeral
// zk.ErrNoChildrenForEphemerals. What is missing of the view's own chroot and namespace is created, as containers, with the
// first node right below it; everything else only WithParents.
//
// The node that exists may be an ephemeral one of this client's last session: a session is given up before the server
// ends it, which is when its nodes go. Wait for that with ExistsW, or delete the node if its Stat's EphemeralOwner is the
// old session's ID; see the example of Session.
//
// What happens if the connection breaks while the reply is awaited depends on the node: one that is Protected is looked
// for by its name and created again if it is not there; an ephemeral one that is not sequential is ours if its owner is
// the session, for a client makes one such node of a path at a time; OrSet and Idempotent say what they do; for every other,
// the error matches ErrOutcomeUnknown. The same error is returned if ctx ends while the reply is awaited, but a Protected
// node is then deleted in the background.
func (c *Client) Create(ctx context.Context, path string, data []byte, opts ...CreateOption) (Created, error) {
	a := createAttempts{client: c, data: data}
	if err := a.configure(path, opts); err != nil {
		return Created{}, &OpError{"create", path, err}
	}
	a.aim(c.full(path))
	if a.recognisedByOwner() {
		r, err := c.reserve(ctx, a.target)
		if err != nil {
			return Created{}, &OpError{"create", path, err}
		}
		a.reserved = r
	}
	var created Created
	err := errPanicked // unless write returns
	defer func() { a.settle(created, err) }()
	err = c.write(ctx, "create", path, func(error) bool { return a.inDoubt != nil || a.set.inDoubt }, func(ctx context.Context, s *Session) (err error) {
		created, err = a.attempt(ctx, s)
		return err
	})
	if err != nil {
		return Created{}, err
	}
	created.Path = c.local(created.Path)
	return created, nil
}

// createAttempts are the attempts at one Create.
type createAttempts struct {
	createOptions
	client *Client
	data   []byte

	guid     string // protection; empty if there is none
	parent   string
	target   string       // what to ask the server for
	inDoubt  *Session     // an earlier attempt in this session may have been applied
	left     bool         // the last attempt's answer goes to late
	reserved *reservation // of a node that is recognised by its owner
	set      setAttempts  // for OrSet
}

// aim settles the name to ask for.
func (a *createAttempts) aim(path string) {
	parent, name := splitPath(path)
	a.parent, a.target = parent, path
	if a.protected {
		a.guid = newGUID()
		a.target = joinPath(parent, protectedPrefix(a.guid)+name)
	}
	a.set = setAttempts{path: path, data: a.data, version: a.orVersion, idempotent: a.idempotent}
}

func (a *createAttempts) attempt(ctx context.Context, s *Session) (Created, error) {
	if a.takesExisting() {
		return a.createOrTake(ctx, s)
	}
	if a.inDoubt != nil {
		if found, err := a.findOut(ctx, s); found.Path != "" || err != nil {
			return found, err
		}
	}
	return a.createWithParents(ctx, s)
}

func (a *createAttempts) createWithParents(ctx context.Context, s *Session) (Created, error) {
	created, err := a.create(ctx, s)
	for tries := 0; errors.Is(err, zk.ErrNoNode) && a.mayMakeParents() && tries < maxVanished; tries++ {
		if err = a.createParents(ctx, s); err == nil {
			created, err = a.create(ctx, s)
		}
	}
	return created, err
}

// maxVanished bounds how often somebody may delete what a create needs, just before it is made: the parents, or the
// node that is to be written. A server that reaps empty containers can do so once.
const maxVanished = 5

func (a *createAttempts) create(ctx context.Context, s *Session) (Created, error) {
	acl, err := a.client.aclFor(a.target, a.acl.list)
	if err != nil {
		return Created{}, err
	}
	guid := a.guid
	q := createRequest(s, newNode{a.target, a.data, acl, a.mode, a.ttl})
	created, err := a.send(ctx, s, q, func(created Created, err error) { a.late(s, guid, created, err) })
	switch {
	case departed(ctx, err):
		a.left = true
		return created, unknownOutcome(err)
	case ambiguous(err) && guid == "" && !a.recognisedByOwner() && !a.takesExisting():
		return created, unknownOutcome(err)
	case ambiguous(err):
		a.inDoubt = s
	}
	return created, err
}

// send makes the request and, if the siblings are asked for, lists them right behind it, without waiting in between.
func (a *createAttempts) send(ctx context.Context, s *Session, q request[Created], late func(Created, error)) (Created, error) {
	if !a.siblings {
		return send(ctx, s, q, late)
	}
	list := childrenRequest(a.parent, false)
	call, listing, err := startBoth(ctx, s, q, list)
	if err != nil {
		return Created{}, err
	}
	created, err := q.await(ctx, s, call, late)
	if err != nil || listing == nil {
		return created, err
	}
	if found, err := list.await(ctx, s, listing, nil); err == nil {
		created.Siblings = found.names
	}
	return created, nil
}

// late gets the result of a create whose caller has gone. Only a protected node can be told from another's, and is
// deleted.
func (a *createAttempts) late(s *Session, guid string, created Created, err error) {
	switch {
	case guid != "" && err == nil:
		a.client.deleteInBackground(created.Path)
	case guid != "" && ambiguous(err):
		a.client.deleteProtectedInBackground(a.parent, guid)
	case a.reserved != nil && ambiguous(err):
		a.client.settleInBackground(a.reserved, s)
	case a.reserved != nil:
		a.reserved.release(created.Czxid)
	}
}

// settle cleans up after the last attempt, unless late will.
func (a *createAttempts) settle(created Created, err error) {
	switch {
	case a.left:
	case a.guid != "" && err != nil && a.inDoubt != nil:
		a.client.deleteProtectedInBackground(a.parent, a.guid)
	case a.reserved != nil && err != nil && a.inDoubt != nil:
		a.client.settleInBackground(a.reserved, a.inDoubt)
	case a.reserved != nil:
		a.reserved.release(created.Czxid)
	}
}

// findOut returns the node if an earlier attempt has made it, and nothing if it must be made.
func (a *createAttempts) findOut(ctx context.Context, s *Session) (Created, error) {
	if a.mode.ephemeral() && a.inDoubt != s {
		a.abandon()
		return Created{}, nil
	}
	path, stat, err := a.find(ctx, s)
	switch {
	case err != nil:
		return Created{}, err
	case stat == nil:
		a.inDoubt = nil
		return Created{}, nil
	case a.reserved != nil && !a.reserved.made(stat, s):
		a.inDoubt = nil
		return Created{}, zk.ErrNodeExists
	}
	if a.mode.ephemeral() {
		s.made(path)
	}
	return Created{Path: path, Czxid: stat.Czxid, Session: s}, nil
}

// find looks for the node that an earlier attempt may have made. It needs no
// right to read the node, for the node may not give us one. After a search, the
// server knows already of all writes that earlier connections have sent.
func (a *createAttempts) find(ctx context.Context, s *Session) (path string, stat *zk.Stat, err error) {
	if a.guid == "" {
		stat, err = afterSync(ctx, s, a.target, exists)
		return a.target, stat, err
	}
	path, err = findProtected(ctx, s, a.parent, a.guid)
	if path != "" && err == nil {
		stat, err = exists(ctx, s, path)
	}
	return path, stat, err
}

// abandon gives up an ephemeral node that an earlier attempt may have made. It belongs to a session that is over, and
// would vanish under us (CURATOR-498).
func (a *createAttempts) abandon() {
	if a.guid != "" {
		a.client.deleteProtectedInBackground(a.parent, a.guid)
		guid := newGUID()
		a.target = strings.Replace(a.target, protectedPrefix(a.guid), protectedPrefix(guid), 1)
		a.guid = guid
	}
	a.inDoubt = nil
}

// mayMakeParents reports whether a missing parent is ours to make: if the call says so, or if it is the chroot, which
// Curator, too, creates when it is first needed.
func (a *createAttempts) mayMakeParents() bool {
	root := a.client.full("/")
	return a.parents || root != "/" && (a.parent == root || a.target == root)
}

func (a *createAttempts) createParents(ctx context.Context, s *Session) error {
	mode := Container
	if a.parents {
		mode = a.parentMode
	}
	return a.client.createPath(ctx, s, a.parent, mode, a.parentACL.list)
}

// createPath creates a node and what is missing above it. It looks upwards for the deepest node that exists and creates
// downwards from there, so that it needs no rights on what exists already (CURATOR-715).
func (c *Client) createPath(ctx context.Context, s *Session, path string, mode Mode, acl []zk.ACL) error {
	var missing []string
	for ; path != "/"; path, _ = splitPath(path) {
		stat, err := exists(ctx, s, path)
		if err != nil {
			return err
		}
		if stat != nil {
			break
		}
		missing = append(missing, path)
	}
	for _, path := range slices.Backward(missing) {
		acl, err := c.aclFor(path, acl)
		if err == nil {
			err = createBare(ctx, s, newNode{path: path, mode: mode, acl: acl})
		}
		if err != nil && !errors.Is(err, zk.ErrNodeExists) {
			return err
		}
		c.noteMade(path, err)
	}
	return nil
}

// createBare creates a node. A server that knows no containers makes it persistent.
func createBare(ctx context.Context, s *Session, n newNode) error {
	_, err := send(ctx, s, createRequest(s, n), nil)
	if n.mode == Container && errors.Is(err, errUnimplemented) {
		n.mode = Persistent
		_, err = send(ctx, s, createRequest(s, n), nil)
	}
	return err
}
