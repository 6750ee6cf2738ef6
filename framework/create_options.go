package framework

import (
	"slices"
	"strconv"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/proto"
)

// CreateOption configures a Create, or a CreateOp of a transaction.
type CreateOption func(*createConfig)

// createConfig is how a call wants its node.
type createConfig struct {
	mode Mode
	ttl  time.Duration
	acl  givenACL

	parents    bool
	parentMode Mode
	parentACL  givenACL

	siblings   bool
	protected  bool
	idempotent bool
	orSet      bool
	orVersion  int32 // for orSet
}

// givenACL is a list that a call may have given: also an empty one, which is an
// error.
type givenACL struct {
	list  []zk.ACL
	given bool
}

// WithMode sets the kind of node. The default is Persistent.
func WithMode(m Mode) CreateOption {
	return func(c *createConfig) { c.mode = m }
}

// WithTTL sets the time to live of a node in one of the TTL modes, in whole
// milliseconds. No request returns the time to live: a TTL node has the same Stat as a
// persistent node; see Mode.
func WithTTL(d time.Duration) CreateOption {
	return func(c *createConfig) { c.ttl = d }
}

// WithACL sets the node's access control list, which is copied. The default is
// the WithACLProvider's, or lets everyone do everything.
func WithACL(acl []zk.ACL) CreateOption {
	acl = slices.Clone(acl)
	return func(c *createConfig) { c.acl = givenACL{acl, true} }
}

// WithParents creates missing parents, as containers, or as persistent nodes on
// servers that know no containers. They have no data. Their access control list
// is WithParentACL's, or else the WithACLProvider's, or else lets everyone do
// everything. Parents that were made stay, also if the node cannot be made.
func WithParents() CreateOption {
	return func(c *createConfig) { c.parents, c.parentMode = true, Container }
}

// WithPersistentParents is WithParents with parents that the server does not
// delete when they have become empty.
func WithPersistentParents() CreateOption {
	return func(c *createConfig) { c.parents, c.parentMode = true, Persistent }
}

// WithParentACL sets the access control list of the parents that WithParents or
// WithPersistentParents creates. Mind that it must let us create the nodes below.
// The list is copied.
func WithParentACL(acl []zk.ACL) CreateOption {
	acl = slices.Clone(acl)
	return func(c *createConfig) { c.parentACL = givenACL{acl, true} }
}

// WithSiblings asks for the names of the parent's children as well, in the same
// round trip.
func WithSiblings() CreateOption {
	return func(c *createConfig) { c.siblings = true }
}

// WithProtection makes a Create safe against lost replies. The node's name starts
// with "_c_", a random UUID and "-", by which the client finds out whether the
// node exists, and deletes it if the caller has gone. The names are Curator's.
func WithProtection() CreateOption {
	return func(c *createConfig) { c.protected = true }
}

// WithOverwrite makes Create write the data of the node if it exists and has the
// given version. AnyVersion always matches; another version is zk.ErrBadVersion.
// The mode and the access control list of a node that exists stay as they are.
// Created has the czxid that the node was created with, by this call or
// another, and the version that this call has left.
//
// If a reply is lost, a call with AnyVersion is repeated as a whole. A node that
// another client deletes in the meantime may be re-created. For a call with a
// version, the error matches ErrOutcomeUnknown.
//
// It is for nodes whose name the caller knows and whose owner does not matter:
// not protected, sequential or ephemeral. In a CreateOp, it makes a transaction create
// or write the node.
func WithOverwrite(version int32) CreateOption {
	return func(c *createConfig) { c.orSet, c.orVersion = true, version }
}

// WithIdempotence makes a node that exists a success if it has this data and was
// never written since it was made (version 0), by this call or another. It
// needs the right to read the node.
//
// If a reply is lost, the call is repeated. A node that another client deletes in
// the meantime may be re-created.
//
// It is for nodes whose name the caller knows and whose owner does not matter:
// not protected, sequential or ephemeral. It excludes WithOverwrite.
func WithIdempotence() CreateOption {
	return func(c *createConfig) { c.idempotent = true }
}

func (c *createConfig) configure(path string, opts []CreateOption) error {
	if err := apply(c, opts); err != nil {
		return err
	}
	return c.validate(path)
}

func (c *createConfig) validate(path string) error {
	if err := validatePath(path); err != nil {
		return err
	}
	switch {
	case path == "/" && !c.isUpsert():
		return zk.ErrNodeExists
	case c.mode < Persistent || c.mode > PersistentSequentialTTL:
		return invalid(zk.ErrInvalidFlags, "mode", strconv.Itoa(int(c.mode)),
			"must be one of the modes of package framework")
	case c.mode.ttl() && c.ttl < time.Millisecond:
		return badArgument("TTL", c.ttl.String(), "must be at least a millisecond in a TTL mode; use WithTTL")
	case !c.mode.ttl() && c.ttl != 0:
		return badArgument("TTL", c.ttl.String(), "needs a TTL mode")
	}
	if err := c.validateACLs(); err != nil || !c.isUpsert() {
		return err
	}
	return c.validateUpsert()
}

func (c *createConfig) validateACLs() error {
	switch {
	case c.acl.given && len(c.acl.list) == 0:
		return invalid(zk.ErrInvalidACL, "ACL", "", "must not be empty")
	case c.parentACL.given && !c.parents:
		return badArgument("option", "WithParentACL without WithParents", "there is no parent to create")
	case c.parentACL.given && len(c.parentACL.list) == 0:
		return invalid(zk.ErrInvalidACL, "ACL of parents", "", "must not be empty")
	}
	return nil
}

// isUpsert reports whether a node that exists already may do.
func (c *createConfig) isUpsert() bool { return c.orSet || c.idempotent }

func (c *createConfig) validateUpsert() error {
	name := "WithIdempotence"
	if c.orSet {
		name = "WithOverwrite"
	}
	switch {
	case c.orSet && c.idempotent:
		return badArgument("options", "WithOverwrite and WithIdempotence", "a node that exists is either written or left")
	case c.protected:
		return badArgument("options", name+" and WithProtection", "no such node exists before")
	case c.mode.sequential():
		return badArgument("options", name+" with a sequential mode", "no such node exists before")
	case c.mode.ephemeral():
		return badArgument("options", name+" with an ephemeral mode",
			"a node that exists may be another session's")
	}
	return nil
}

// newNode is the request's form of a node with this path.
func newNode(path string, data []byte, acl []proto.ACL, cfg *createConfig) proto.NewNode {
	return proto.NewNode{
		Path: path, Data: data, ACL: acl, Mode: int32(cfg.mode), TTLMillis: cfg.ttl.Milliseconds(),
	}
}

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
