package framework

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
)

// Mode is the kind of node to create. The values are ZooKeeper's.
type Mode int32

// The modes of ZooKeeper 3.5 and later. An ephemeral node ends with its session. A sequential one gets a number of ten
// digits appended to its name, which grows with each child of the parent. A container is deleted by the server some
// time after its last child. A TTL node is deleted when it has no children and was not changed for its time to live,
// if the server is configured for that.
const (
	Persistent              Mode = zk.FlagPersistent
	Ephemeral               Mode = zk.FlagEphemeral
	PersistentSequential    Mode = zk.FlagSequence
	EphemeralSequential     Mode = zk.FlagEphemeralSequential
	Container               Mode = zk.FlagContainer
	PersistentTTL           Mode = zk.FlagTTL
	PersistentSequentialTTL Mode = zk.FlagPersistentSequentialWithTTL
)

func (m Mode) ephemeral() bool { return m == Ephemeral || m == EphemeralSequential }

func (m Mode) ttl() bool { return m == PersistentTTL || m == PersistentSequentialTTL }

// CreateOption configures a Create.
type CreateOption func(*createAttempts)

// WithMode sets the kind of node. The default is Persistent.
func WithMode(m Mode) CreateOption {
	return func(a *createAttempts) { a.mode = m }
}

// WithTTL sets the time to live of a node in one of the TTL modes, in whole milliseconds.
func WithTTL(d time.Duration) CreateOption {
	return func(a *createAttempts) { a.ttl = d }
}

// WithACL sets the node's access control list. The default lets everyone do everything.
func WithACL(acl []zk.ACL) CreateOption {
	return func(a *createAttempts) { a.acl = acl }
}

// WithParents creates missing parents, as containers, or as persistent nodes on servers that know no containers.
// They get the default access control list and no data.
func WithParents() CreateOption {
	return func(a *createAttempts) { a.parents = true }
}

// Protected makes a Create safe against lost replies: the node's name starts with "_c_", a random UUID and "-", by
// which the client finds out whether it exists, and deletes it if the caller has gone. Names are Curator's.
func Protected() CreateOption {
	return func(a *createAttempts) { a.guid = newGUID() }
}

// Created is a node that Create has made.
type Created struct {
	// Path is the node's path, with the protection prefix and the sequence number, if it has them.
	Path string

	// Czxid is the id of the transaction that made the node. Of two nodes anywhere in the ensemble, the one that was
	// created later has the larger one.
	Czxid int64

	// Session is the one in which the node was created. An ephemeral node must not be trusted when its context ends.
	Session *Session
}

// Create creates a node.
//
// An existing node is zk.ErrNodeExists, a missing parent zk.ErrNoNode, a parent that is ephemeral
// zk.ErrNoChildrenForEphemerals. What happens if the connection breaks while the reply is awaited depends on the node:
// one that is Protected is looked for by its name and created again if it is not there; an ephemeral one that is not
// sequential is ours if its owner is the session (two callers of one client cannot be told apart by that); for every other, the error matches ErrOutcomeUnknown. The same error
// is returned if ctx ends while the reply is awaited, but a Protected node is then deleted in the background.
func (c *Client) Create(ctx context.Context, path string, data []byte, opts ...CreateOption) (Created, error) {
	a := createAttempts{client: c, data: data, acl: zk.WorldACL(zk.PermAll)}
	for _, opt := range opts {
		opt(&a)
	}
	if err := a.validate(path); err != nil {
		return Created{}, &OpError{"create", path, err}
	}
	a.aim(c.full(path))

	var created Created
	err := c.do(ctx, "create", path, func(ctx context.Context, s *Session) (err error) {
		created, err = a.attempt(ctx, s)
		return err
	})
	if err != nil {
		a.giveUp()
		return Created{}, stillInDoubt(ctx, a.inDoubt != nil, err)
	}
	created.Path = c.local(created.Path)
	return created, nil
}

// createAttempts are the attempts at one Create.
type createAttempts struct {
	client *Client
	data   []byte
	mode   Mode
	ttl    time.Duration
	acl    []zk.ACL

	parents bool
	guid    string // protection; empty if there is none

	parent  string
	target  string   // what to ask the server for
	inDoubt *Session // an earlier attempt in this session may have been applied
}

func (a *createAttempts) validate(path string) error {
	if err := validatePath(path); err != nil {
		return err
	}
	switch {
	case path == "/":
		return zk.ErrNodeExists
	case a.mode < Persistent || a.mode > PersistentSequentialTTL:
		return fmt.Errorf("%w: mode %d", zk.ErrInvalidFlags, a.mode)
	case a.mode.ttl() && a.ttl < time.Millisecond:
		return fmt.Errorf("%w: a TTL mode needs WithTTL of at least a millisecond", zk.ErrBadArguments)
	case !a.mode.ttl() && a.ttl != 0:
		return fmt.Errorf("%w: WithTTL without a TTL mode", zk.ErrBadArguments)
	case len(a.acl) == 0:
		return fmt.Errorf("%w: empty", zk.ErrInvalidACL)
	}
	return nil
}

// aim settles the name to ask for.
func (a *createAttempts) aim(path string) {
	parent, name := splitPath(path)
	a.parent, a.target = parent, path
	if a.guid != "" {
		a.target = joinPath(parent, protectedPrefix(a.guid)+name)
	}
}

func (a *createAttempts) attempt(ctx context.Context, s *Session) (Created, error) {
	if a.inDoubt != nil {
		if found, err := a.findOut(ctx, s); found.Path != "" || err != nil {
			return found, err
		}
	}
	created, err := a.create(ctx, s)
	for tries := 0; a.parents && errors.Is(err, zk.ErrNoNode) && tries < maxParentTries; tries++ {
		if err = createParents(ctx, s, a.parent); err == nil {
			created, err = a.create(ctx, s)
		}
	}
	return created, err
}

// maxParentTries bounds how often somebody may delete the parents just before the node is made. A server that reaps
// empty containers can do so once.
const maxParentTries = 5

func (a *createAttempts) create(ctx context.Context, s *Session) (Created, error) {
	guid := a.guid
	q := createRequest(s, a.target, a.data, a.mode, a.ttl, a.acl)
	created, err := send(ctx, s, q, func(created Created, err error) { a.late(guid, created, err) })
	switch {
	case err == nil:
	case departed(ctx, err):
		a.inDoubt, a.guid = nil, "" // late looks after it
		err = unknownOutcome(err)
	case ambiguous(err) && guid == "" && a.mode != Ephemeral:
		err = unknownOutcome(err)
	case ambiguous(err):
		a.inDoubt = s
	}
	return created, err
}

// late gets the result of a create whose caller has gone. Only a protected node can be told from another's.
func (a *createAttempts) late(guid string, created Created, err error) {
	switch {
	case guid == "":
	case err == nil:
		a.client.deleteInBackground(created.Path)
	case ambiguous(err):
		a.client.deleteProtectedInBackground(a.parent, guid)
	}
}

// giveUp cleans up after the last attempt has failed.
func (a *createAttempts) giveUp() {
	if a.guid != "" && a.inDoubt != nil {
		a.client.deleteProtectedInBackground(a.parent, a.guid)
	}
}

// findOut returns the node if an earlier attempt has made it, and nothing if it must be made.
func (a *createAttempts) findOut(ctx context.Context, s *Session) (Created, error) {
	before := a.inDoubt
	if a.mode.ephemeral() && before != s {
		// That node, if there is one, belongs to a session that is over: it would vanish under us (CURATOR-498).
		if a.guid != "" {
			a.client.deleteProtectedInBackground(a.parent, a.guid)
			guid := newGUID()
			a.target = strings.Replace(a.target, protectedPrefix(a.guid), protectedPrefix(guid), 1)
			a.guid = guid
		}
		a.inDoubt = nil
		return Created{}, nil
	}
	path, err := a.target, error(nil)
	if a.guid != "" {
		path, err = findProtected(ctx, s, a.parent, a.guid)
	}
	if err != nil {
		return Created{}, err
	}
	if path == "" {
		a.inDoubt = nil
		return Created{}, nil
	}
	stat, err := afterSync(ctx, s, path, exists) // asks for no right to read, which the new node may not give us
	switch {
	case err != nil:
		return Created{}, err
	case stat == nil:
		a.inDoubt = nil
		return Created{}, nil
	case a.guid == "" && stat.EphemeralOwner != s.ID():
		return Created{}, zk.ErrNodeExists
	}
	return Created{Path: path, Czxid: stat.Czxid, Session: s}, nil
}

// createParents creates a path and what is missing above it. It looks upwards for the deepest node that exists and
// creates downwards from there, so that it needs no rights on what exists already (CURATOR-715).
func createParents(ctx context.Context, s *Session, path string) error {
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
	for i := len(missing) - 1; i >= 0; i-- {
		err := createParent(ctx, s, missing[i])
		if err != nil && !errors.Is(err, zk.ErrNodeExists) {
			return err
		}
	}
	return nil
}

func createParent(ctx context.Context, s *Session, path string) error {
	acl := zk.WorldACL(zk.PermAll)
	_, err := send(ctx, s, createRequest(s, path, nil, Container, 0, acl), nil)
	if errors.Is(err, errUnimplemented) {
		_, err = send(ctx, s, createRequest(s, path, nil, Persistent, 0, acl), nil)
	}
	return err
}
