package framework

import (
	"context"
	"slices"

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
//
// Create reads data until it returns, and may send it several times. Nobody may change
// data before that.
func (c *Client) Create(ctx context.Context, path string, data []byte, opts ...CreateOption) (created Created, err error) {
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

// resolveTarget decides the path to ask for, and how its write behaves.
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

// mayMakeParent reports whether the client may create the missing parent of a
// node: if the call says so, or if it is the chroot, which Curator, too, creates
// when it is first needed.
func (c *Client) mayMakeParent(parent string, cfg *createConfig) bool {
	root := c.full("/")
	return cfg.parents || root != "/" && parent == root
}

// createParents creates the parent of a node, and what is missing above it. It looks
// upwards for the deepest node that exists and creates downwards from there, so that
// it needs no rights on what exists already (CURATOR-715). It adds to the paths that
// are known to exist.
func (c *Client) createParents(
	ctx context.Context, s *Session, parent string, cfg *createConfig, known map[string]bool,
) error {
	mode := Container
	if cfg.parents {
		mode = cfg.parentMode
	}
	if c.cfg.noContainers {
		mode = Persistent
	}
	var missing []string
	for path := parent; path != "/" && !known[path]; path, _ = znode.Split(path) {
		stat, err := send(ctx, s, proto.Exists(path, false), nil)
		if err != nil {
			return err
		}
		if stat != nil {
			known[path] = true
			break
		}
		missing = append(missing, path)
	}
	for _, path := range slices.Backward(missing) {
		acl, err := c.aclFor(path, cfg.parentACL.list)
		if err == nil {
			_, err = send(ctx, s, proto.Create(newNode(path, nil, acl, &createConfig{mode: mode})), nil)
		}
		if err != nil && !reason.Is(err, zk.ErrNodeExists) {
			return err
		}
		known[path] = true
		c.warnOfNewChroot(path, err)
	}
	return nil
}

// warnOfNewChroot tells the log that the chroot was missing. That is how a new
// chroot begins, but also what a typing error looks like, and then the client's
// locks exclude nobody.
func (c *Client) warnOfNewChroot(path string, err error) {
	if err == nil && path == c.root.chroot {
		c.cfg.logger.Warn("zookeeper chroot did not exist and was created", "chroot", path)
	}
}

// Mode is the kind of node to create. The values are ZooKeeper's.
type Mode int32

// The modes of ZooKeeper 3.5 and later:
//
//   - An ephemeral node ends with its session.
//   - A sequential node gets a number of ten digits appended to its name, which
//     grows with each child of the parent. The name before it must not be
//     empty, though the server would allow that.
//   - The server deletes a container some time after its last child is gone.
//   - The server deletes a TTL node when it has no children and was not changed
//     for its time to live, if the server is configured for that.
//
// The Stat of a node does not tell its mode. EphemeralOwner is the session of an
// ephemeral node. It is 0 for every other node, also for a container and a TTL
// node. The exception is a TTL node on a server that is no longer configured for TTL
// nodes: EphemeralOwner is the time to live then, with the highest byte 0xff, which
// no session's id has.
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

func (m Mode) sequential() bool {
	return m == PersistentSequential || m == EphemeralSequential || m == PersistentSequentialTTL
}

func (m Mode) ttl() bool { return m == PersistentTTL || m == PersistentSequentialTTL }
