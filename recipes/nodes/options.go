package nodes

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
)

// Option configures a PersistentNode or a member of a Group. An option that does
// not suit the kind of node is an error of NewPersistentNode, or of Join.
type Option func(*config)

// ConflictPolicy says what to do about somebody else's node with the same path.
// See WithConflictPolicy.
type ConflictPolicy int

// The policies for conflicts. A node is somebody else's if neither the present
// session of the client nor a former one of this persistent node owns it.
const (
	// Wait waits until the other node is gone. It is the default. If the client may
	// not read the other node, servers since 3.8.4 and 3.9.2 do not say whose it is,
	// and the persistent node ends with zk.ErrNoAuth, whatever the policy.
	Wait ConflictPolicy = iota

	// Fail ends the persistent node with a ConflictError.
	Fail

	// Replace deletes the other node, and creates ours in the same transaction,
	// when the persistent node registers for the first time. After that,
	// somebody else's node is a successor's, and ends this one with a
	// ConflictError: two that replace each other would never stop.
	Replace
)

type config struct {
	mode      framework.Mode
	protected bool
	acl       []zk.ACL
	hasACL    bool
	lasting   bool // the parents
	conflict  ConflictPolicy
	claim     func(data []byte) bool // or nil
	patient   bool
	ttl       time.Duration
	fault     error // says which option cannot be used; or nil
}

// WithMode sets the kind of node: framework.Ephemeral, which is the default,
// EphemeralSequential, Persistent or Container.
//
// A sequential node is always protected, and keeps its number for as long as
// the persistent node is open, also when it must be created anew. A node that
// is not ephemeral belongs to nobody: one that exists already is taken over,
// and gets our data, unless WithClaim says otherwise. An ephemeral node is a
// conflict then. Two that keep such a node with different data overwrite each
// other, with pauses.
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

// WithProtection puts "_c_", a random UUID and "-" before the node's name, as
// Curator does. No two nodes have the same name then, and there are no
// conflicts. The name stays the same for as long as the persistent node is
// open.
func WithProtection() Option { return func(c *config) { c.protected = true } }

// WithACL sets the node's access control list. The default is what the client's
// WithACLProvider returns, or lets everyone do everything. An empty list is an
// error.
func WithACL(acl []zk.ACL) Option {
	acl = slices.Clone(acl)
	return func(c *config) {
		c.acl, c.hasACL = acl, true
		if len(acl) == 0 {
			c.refuse("ACL", "", "must not be empty")
		}
	}
}

// WithPersistentParents creates missing parents as framework.WithPersistentParents
// does. By default they are those of framework.WithParents, which the servers delete
// some time after the last node below them.
func WithPersistentParents() Option { return func(c *config) { c.lasting = true } }

// WithConflictPolicy says what to do about somebody else's node with the same
// path. The default is Wait.
func WithConflictPolicy(p ConflictPolicy) Option {
	return func(c *config) {
		c.conflict = p
		if p < Wait || p > Replace {
			c.refuse("conflict policy", fmt.Sprint(int(p)), "must be Wait, Fail or Replace")
		}
	}
}

// WithClaim says which existing nodes a persistent node in the mode Persistent or
// Container takes over: the nodes for whose data the function returns true, for
// example because an earlier process of the same owner has written the data. Any
// other existing node is a conflict, and Shutdown does not delete it. The function
// must return true for all data that this persistent node is given: if the reply to
// a create is lost, the data say whose the node is. Ephemeral nodes ignore the
// option: the session that owns the node says whose it is. Without this option, the
// persistent node takes over every node that is not ephemeral.
func WithClaim(isOurs func(data []byte) bool) Option {
	return func(c *config) {
		c.claim = isOurs
		if isOurs == nil {
			c.fault = isNil("claim")
		}
	}
}

// WithRefusalsRetried keeps a persistent node alive that was registered once. If a
// server refuses to re-create the node after a lost session, for example because of a
// quota, the persistent node logs the refusal and retries after pauses of up to half
// a minute, or at once after a Set. Without this option, a refusal ends the
// persistent node.
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

// parents returns the option of a request that may have to create the parents.
func (c *config) parents() framework.CreateOption {
	if c.lasting {
		return framework.WithPersistentParents()
	}
	return framework.WithParents()
}

func (c *config) ephemeral() bool {
	return c.mode == framework.Ephemeral || c.mode == framework.EphemeralSequential
}

// unique reports whether the server or the client adds something to the name
// that makes it unique.
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
		return fmt.Errorf("%w: name %q must be that of a child", zk.ErrInvalidPath, name)
	}
	return framework.ValidatePath("/" + name)
}
