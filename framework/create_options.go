package framework

import (
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"
)

// CreateOption configures a Create, or a CreateOp of a transaction.
type CreateOption func(*createOptions)

// createOptions is what a call asks for.
type createOptions struct {
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

// givenACL is a list that a call may have given: also an empty one, which is an error.
type givenACL struct {
	list  []zk.ACL
	given bool
}

// WithMode sets the kind of node. The default is Persistent.
func WithMode(m Mode) CreateOption {
	return func(o *createOptions) { o.mode = m }
}

// WithTTL sets the time to live of a node in one of the TTL modes, in whole milliseconds.
func WithTTL(d time.Duration) CreateOption {
	return func(o *createOptions) { o.ttl = d }
}

// WithACL sets the node's access control list. The default is the WithACLProvider's, or lets everyone do everything.
func WithACL(acl []zk.ACL) CreateOption {
	return func(o *createOptions) { o.acl = givenACL{acl, true} }
}

// WithParents creates missing parents, as containers, or as persistent nodes on servers that know no containers.
// They have no data. Their access control list is that of WithParentACL, or the WithACLProvider's, or lets everyone do
// everything. Parents that were made stay, also if the node cannot be.
func WithParents() CreateOption {
	return func(o *createOptions) { o.parents, o.parentMode = true, Container }
}

// PersistentParents is WithParents with parents that the server does not delete when they have become empty.
func PersistentParents() CreateOption {
	return func(o *createOptions) { o.parents, o.parentMode = true, Persistent }
}

// WithParentACL sets the access control list of the parents that WithParents or PersistentParents creates. Mind that it
// must let us create the nodes below.
func WithParentACL(acl []zk.ACL) CreateOption {
	return func(o *createOptions) { o.parentACL = givenACL{acl, true} }
}

// WithSiblings asks for the names of the parent's children as well, in the same round trip.
func WithSiblings() CreateOption {
	return func(o *createOptions) { o.siblings = true }
}

// Protected makes a Create safe against lost replies: the node's name starts with "_c_", a random UUID and "-", by
// which the client finds out whether it exists, and deletes it if the caller has gone. Names are Curator's.
func Protected() CreateOption {
	return func(o *createOptions) { o.protected = true }
}

// OrSet makes Create write the data of the node if it exists and has the given version. AnyVersion always matches;
// another version is zk.ErrBadVersion. The mode and the access control list of a node that exists stay as they are, and
// Created has the czxid that it was created with, by whomever.
//
// If a reply is lost, the call is repeated as a whole: it ends with a node that has the data, or with an error. A node that
// somebody deletes in the meantime may be created anew. With a version, the node is read first, and counts as done if
// it is as this call would have left it.
//
// It is for nodes whose name the caller knows and whose owner does not matter: not Protected, sequential or ephemeral.
func OrSet(version int32) CreateOption {
	return func(o *createOptions) { o.orSet, o.orVersion = true, version }
}

// Idempotent makes a node that exists a success if it has this data and was never written since it was made (version
// 0), whoever has made it. It needs the right to read the node. With OrSet, a node that exists may also have this data and
// the version that follows OrSet's.
//
// If a reply is lost, the call is repeated. A node that somebody deletes in the meantime may be created anew.
//
// It is for nodes whose name the caller knows and whose owner does not matter: not Protected, sequential or ephemeral.
func Idempotent() CreateOption {
	return func(o *createOptions) { o.idempotent = true }
}

func (o *createOptions) configure(path string, opts []CreateOption) error {
	if err := apply(o, opts); err != nil {
		return err
	}
	return o.validate(path)
}

func (o *createOptions) validate(path string) error {
	if err := validatePath(path); err != nil {
		return err
	}
	switch {
	case path == "/" && !o.takesExisting():
		return zk.ErrNodeExists
	case o.mode < Persistent || o.mode > PersistentSequentialTTL:
		return fmt.Errorf("%w: mode %d", zk.ErrInvalidFlags, o.mode)
	case o.mode.ttl() && o.ttl < time.Millisecond:
		return fmt.Errorf("%w: a TTL mode needs WithTTL of at least a millisecond", zk.ErrBadArguments)
	case !o.mode.ttl() && o.ttl != 0:
		return fmt.Errorf("%w: WithTTL without a TTL mode", zk.ErrBadArguments)
	case o.acl.given && len(o.acl.list) == 0:
		return fmt.Errorf("%w: empty", zk.ErrInvalidACL)
	case o.parentACL.given && !o.parents:
		return fmt.Errorf("%w: WithParentACL without WithParents", zk.ErrBadArguments)
	case o.parentACL.given && len(o.parentACL.list) == 0:
		return fmt.Errorf("%w: empty, for parents", zk.ErrInvalidACL)
	case o.orSet && o.orVersion < AnyVersion:
		return fmt.Errorf("%w: OrSet with version %d", zk.ErrBadArguments, o.orVersion)
	case o.takesExisting():
		return o.validateExisting()
	}
	return nil
}

// takesExisting reports whether a node that exists may do.
func (o *createOptions) takesExisting() bool { return o.orSet || o.idempotent }

func (o *createOptions) validateExisting() error {
	name := "Idempotent"
	if o.orSet {
		name = "OrSet"
	}
	switch {
	case o.protected:
		return fmt.Errorf("%w: %s and Protected: no such node exists before", zk.ErrBadArguments, name)
	case o.mode.sequential():
		return fmt.Errorf("%w: %s with a sequential mode: no such node exists before", zk.ErrBadArguments, name)
	case o.mode.ephemeral():
		return fmt.Errorf("%w: %s with an ephemeral mode: a node that exists may be another session's", zk.ErrBadArguments, name)
	}
	return nil
}

// recognisedByOwner reports whether the only thing that tells the node from another's is its session.
func (o *createOptions) recognisedByOwner() bool { return o.mode == Ephemeral && !o.protected }
