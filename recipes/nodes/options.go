package nodes

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
)

// Option configures a PersistentNode or a member of a Group. NewPersistentNode and Join
// return an error for an option that does not suit the kind of node.
//
//   - Which node: [WithMode], [WithTTL], [WithProtection], [WithACL],
//     [WithPersistentParents].
//   - When another client's node is in the way: [WithConflictPolicy], [WithClaim].
//   - When a server refuses the node: [WithRefusalsRetried].
type Option func(*config)

// ConflictPolicy says what to do about another client's node at the same path. See
// WithConflictPolicy.
type ConflictPolicy int

// The policies for conflicts. A node is in conflict if neither the client's current
// session nor an earlier session of this persistent node owns it.
const (
	// Wait waits until the other node is gone. It is the default. If the client may not
	// read the other node, servers since 3.8.4 and 3.9.2 hide its owner, and the
	// persistent node ends with zk.ErrNoAuth under every policy.
	Wait ConflictPolicy = iota

	// Fail ends the persistent node with a ConflictError.
	Fail

	// Replace deletes the other node and creates this one in the same transaction, but
	// only for the first registration. After that, another client's node is a successor's
	// and ends this persistent node with a ConflictError: two nodes that replace each
	// other would never stop.
	Replace
)

type config struct {
	mode      framework.Mode
	protected bool
	acl       []zk.ACL
	hasACL    bool
	lasting   bool // create missing parents as persistent nodes
	conflict  ConflictPolicy
	claim     func(data []byte) bool // nil without WithClaim
	patient   bool
	ttl       time.Duration
	fault     error // the error of an invalid option; or nil
}

// WithMode sets the kind of node: framework.Ephemeral, which is the default,
// EphemeralSequential, Persistent or Container.
//
// A sequential node is always protected. It keeps its number while the persistent node is
// open, even when it must be re-created. A node that is not ephemeral has no owner: an
// existing one is taken over and gets this node's data, unless WithClaim says otherwise;
// an existing ephemeral node is a conflict. If two clients keep such a node with
// different data, they overwrite each other, with pauses.
func WithMode(m framework.Mode) Option {
	return func(c *config) {
		c.mode = m
		allowed := []framework.Mode{
			framework.Ephemeral, framework.EphemeralSequential, framework.Persistent, framework.Container,
		}
		if !slices.Contains(allowed, m) {
			c.refuse("mode", fmt.Sprint(int32(m)), "must be Ephemeral, EphemeralSequential, Persistent or Container")
		}
	}
}

// WithProtection puts "_c_", a random UUID and "-" before the node's name, as Curator
// does. Such names are unique, so there are no conflicts. The name stays the same while
// the persistent node is open.
func WithProtection() Option { return func(c *config) { c.protected = true } }

// WithACL sets the node's access control list. The default is the result of the client's
// WithACLProvider, or else an open list that allows everything to everyone. An empty list
// is an error.
func WithACL(acl []zk.ACL) Option {
	acl = slices.Clone(acl)
	return func(c *config) {
		c.acl, c.hasACL = acl, true
		if len(acl) == 0 {
			c.refuse("ACL", "", "must not be empty")
		}
	}
}

// WithPersistentParents creates missing parents as framework.WithPersistentParents does.
// Without the option, missing parents are created as by framework.WithParents: the
// servers delete them some time after their last child.
func WithPersistentParents() Option { return func(c *config) { c.lasting = true } }

// WithConflictPolicy says what to do about another client's node at the same path. The
// default is Wait.
func WithConflictPolicy(p ConflictPolicy) Option {
	return func(c *config) {
		c.conflict = p
		if p < Wait || p > Replace {
			c.refuse("conflict policy", fmt.Sprint(int(p)), "must be Wait, Fail or Replace")
		}
	}
}

// WithClaim chooses which existing nodes a persistent node in the mode Persistent or
// Container takes over: the nodes for whose data the function returns true, for example
// because an earlier process of the same owner wrote the data. Any other existing node is
// a conflict, and Shutdown does not delete it. The function must return true for all data
// that is given to this persistent node: if the reply to a create is lost, the client
// recognizes the node by its data. Without this option, the persistent node takes over
// every node that is not ephemeral. The option has no effect on ephemeral nodes, because
// the session that owns the node identifies its owner.
func WithClaim(isOurs func(data []byte) bool) Option {
	return func(c *config) {
		c.claim = isOurs
		if isOurs == nil {
			c.fault = isNil("claim")
		}
	}
}

// WithRefusalsRetried keeps a persistent node alive if a server refuses to re-create it,
// for example because of a quota. The persistent node logs the refusal and retries after
// pauses of up to half a minute, or at once after a Set. Without this option, a refusal
// ends the persistent node. A refusal before the first registration always does.
func WithRefusalsRetried() Option { return func(c *config) { c.patient = true } }

func (c *config) refuse(name, value, reason string) {
	c.fault = &framework.ConfigError{Name: name, Value: value, Reason: reason}
}

func isNil(name string) error {
	return &framework.ConfigError{Name: name, Value: "nil", Reason: "must not be nil"}
}

func newConfig(opts []Option) config {
	c := config{mode: framework.Ephemeral}
	for _, o := range opts {
		if o == nil {
			c.fault = isNil("option")
			continue
		}
		o(&c)
	}
	c.settleTTL()
	return c
}

// parents returns the create option for missing parents.
func (c *config) parents() framework.CreateOption {
	if c.lasting {
		return framework.WithPersistentParents()
	}
	return framework.WithParents()
}

func (c *config) ephemeral() bool {
	return c.mode == framework.Ephemeral || c.mode == framework.EphemeralSequential
}

// unique reports whether the server or the client adds something to the name that makes
// it unique.
func (c *config) unique() bool { return c.protected || c.mode == framework.EphemeralSequential }

// createOptions are the options that create the node under its final name.
func (c *config) createOptions() []framework.CreateOption {
	mode := c.mode
	if mode == framework.EphemeralSequential {
		mode = framework.Ephemeral
	}
	opts := []framework.CreateOption{framework.WithMode(mode)}
	if c.hasACL {
		opts = append(opts, framework.WithACL(c.acl))
	}
	if c.ttl > 0 {
		opts = append(opts, framework.WithTTL(c.ttl))
	}
	return opts
}

// validateName returns an error that matches zk.ErrInvalidPath if no child can
// have the name.
func validateName(name string) error {
	if name == "" || strings.Contains(name, "/") {
		return fmt.Errorf("%w: name %q must be the name of a child", zk.ErrInvalidPath, name)
	}
	return framework.ValidatePath("/" + name)
}
