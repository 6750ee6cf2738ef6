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

// createConfig has the options of a create.
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

// givenACL is the list of a call, if any. An empty list is an error and differs from no
// list.
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

// WithParents creates missing parents, as containers, or as persistent nodes on servers
// that know no containers. They have no data. Their access control list is
// WithParentACL's, or else the WithACLProvider's, or else lets everyone do everything.
// Created parents stay, even if the node itself cannot be created.
func WithParents() CreateOption {
	return func(c *createConfig) { c.parents, c.parentMode = true, Container }
}

// WithPersistentParents is WithParents with parents that the server does not delete
// when they are empty.
func WithPersistentParents() CreateOption {
	return func(c *createConfig) { c.parents, c.parentMode = true, Persistent }
}

// WithParentACL sets the access control list of the parents that WithParents or
// WithPersistentParents creates. The list must allow the client to create nodes below
// these parents. The list is copied.
func WithParentACL(acl []zk.ACL) CreateOption {
	acl = slices.Clone(acl)
	return func(c *createConfig) { c.parentACL = givenACL{acl, true} }
}

// WithSiblings also returns the names of the parent's children, in the same round trip.
func WithSiblings() CreateOption {
	return func(c *createConfig) { c.siblings = true }
}

// WithProtection makes a Create safe against lost replies. The node's name starts with
// "_c_", a random UUID and "-", by which the client finds out whether the node exists,
// and deletes the node if the caller has given up. The form of the names is Curator's.
func WithProtection() CreateOption {
	return func(c *createConfig) { c.protected = true }
}

// WithOverwrite makes Create write the data of the node if it exists and has the given
// version. AnyVersion always matches; another version is zk.ErrBadVersion. The mode and
// the access control list of an existing node do not change. Created has the node's
// czxid, whether this call or another client has created the node, and the version
// after this call.
//
// If a reply is lost, a call with AnyVersion is repeated as a whole. A node that
// another client deletes in the meantime may be re-created. For a call with a
// version, the error matches ErrOutcomeUnknown.
//
// Use WithOverwrite for nodes with a fixed name whose owner does not matter: not
// protected, sequential or ephemeral. In a CreateOp, WithOverwrite makes a transaction
// create or write the node.
func WithOverwrite(version int32) CreateOption {
	return func(c *createConfig) { c.orSet, c.orVersion = true, version }
}

// WithIdempotence makes an existing node count as success if it has the same data and
// was never written since its creation (version 0). WithIdempotence needs the right to
// read the node.
//
// If a reply is lost, the call is repeated. A node that another client deletes in
// the meantime may be re-created.
//
// Use WithIdempotence for nodes with a fixed name whose owner does not matter: not
// protected, sequential or ephemeral. WithIdempotence excludes WithOverwrite.
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

// isUpsert reports whether an existing node may count as success.
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

// newNode returns the request's form of a node with this path.
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

	// Version is the version of the node after the call. It is 0, except for an
	// existing node that was written WithOverwrite.
	Version int32

	// Session is the session in which the node was created. When the session's context
	// ends, an ephemeral node must no longer be trusted.
	Session *Session

	// Siblings are the names of the parent's children right after the creation,
	// including the node itself. Siblings omits protected nodes whose callers have
	// given up and which the client deletes, and ephemeral nodes of the session that the
	// client deletes in the background. Siblings is nil without WithSiblings, or if the
	// listing failed.
	Siblings []string
}

// Mode is the kind of node to create. The values are ZooKeeper's.
type Mode int32

// The modes of ZooKeeper 3.5 and later:
//
//   - An ephemeral node ends with its session.
//   - A sequential node gets a number of ten digits appended to its name, which grows
//     with each child of the parent. The name before the number must not be empty,
//     although the server would allow that.
//   - The server deletes a container some time after its last child was deleted.
//   - The server deletes a TTL node when it has no children and was not changed
//     for its time to live, if the server is configured for that.
//
// The Stat of a node does not show its mode. EphemeralOwner is the session of an
// ephemeral node, and 0 for any other node, including containers and TTL nodes. The
// exception is a TTL node on a server that is no longer configured for TTL nodes:
// EphemeralOwner is then the time to live with the highest byte 0xff, which no
// session's id has.
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
