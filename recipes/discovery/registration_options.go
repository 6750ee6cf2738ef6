package discovery

import (
	"cmp"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/recipes/nodes"
)

// RegistrationOption configures a Registration.
type RegistrationOption func(*registrationConfig)

type registrationConfig struct{ node []nodes.Option }

// WithConflictPolicy says what to do about somebody else's node with the ID:
// nodes.Wait, which is the default, nodes.Fail or nodes.Replace. The node of a
// process that has crashed stays until its session has timed out, so a process
// that begins anew with a fixed ID has to wait for that, or to replace it.
func WithConflictPolicy(p nodes.ConflictPolicy) RegistrationOption {
	return func(c *registrationConfig) { c.node = append(c.node, nodes.WithConflictPolicy(p)) }
}

// WithACL sets the access control list of the node. The default is the client's.
func WithACL(acl []zk.ACL) RegistrationOption {
	own := nodes.WithACL(acl)
	return func(c *registrationConfig) { c.node = append(c.node, own) }
}

// WithPersistentFolder creates a missing folder of the service as a persistent node,
// and not as a container, which the servers delete some time after its last instance.
// It is for registries whose other programs do not create the folder again.
func WithPersistentFolder() RegistrationOption {
	return func(c *registrationConfig) { c.node = append(c.node, nodes.WithPersistentParents()) }
}

// ConflictError says that somebody else has registered an instance with the ID.
// It matches nodes.ErrConflict.
type ConflictError struct {
	// Instance is what the other node says. If it says nothing that can be read,
	// only the Service and the ID are there.
	Instance Instance

	// Node has the other node's session, and since when it is there.
	Node *nodes.ConflictError

	err error
}

// Error says where the other instance listens, if that is known, whose it is and
// since when.
func (e *ConflictError) Error() string {
	i := e.Instance
	if i.Address == "" {
		return fmt.Sprintf("another instance has the ID: %v", e.err)
	}
	return fmt.Sprintf("an instance at %q, port %d, has the ID: %v", i.Address, cmp.Or(i.Port, i.TLSPort), e.err)
}

// Unwrap returns the error of the node.
func (e *ConflictError) Unwrap() error { return e.err }
