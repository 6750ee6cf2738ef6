package discovery

import (
	"cmp"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/recipes/nodes"
)

// RegistrationOption configures a Registration: what to do about another client's node
// ([WithConflictPolicy]), who may use the node ([WithACL]), and what becomes of an empty
// service ([WithPersistentFolder]).
type RegistrationOption func(*registrationConfig)

type registrationConfig struct{ node []nodes.Option }

// WithConflictPolicy sets what to do if another client has a node with the ID:
// nodes.Wait, the default, nodes.Fail or nodes.Replace. The node of a crashed process
// stays until its session times out. So a process that restarts with a fixed ID either
// waits for the timeout or replaces the node.
func WithConflictPolicy(p nodes.ConflictPolicy) RegistrationOption {
	return func(c *registrationConfig) { c.node = append(c.node, nodes.WithConflictPolicy(p)) }
}

// WithACL sets the access control list of the node. The default is the client's.
func WithACL(acl []zk.ACL) RegistrationOption {
	own := nodes.WithACL(acl)
	return func(c *registrationConfig) { c.node = append(c.node, own) }
}

// WithPersistentFolder creates a missing folder of the service as a persistent node. By
// default the folder is a container, which the server deletes some time after the last
// instance has left. Use WithPersistentFolder if other programs of the registry do not
// re-create the folder.
func WithPersistentFolder() RegistrationOption {
	return func(c *registrationConfig) { c.node = append(c.node, nodes.WithPersistentParents()) }
}

// ConflictError means that another client has registered an instance with the ID. It
// matches nodes.ErrConflict.
type ConflictError struct {
	// Instance is decoded from the other client's node. It has only Service and ID if
	// the node cannot be decoded.
	Instance Instance

	// Node has the session of the other client's node, and the time of its creation.
	Node *nodes.ConflictError

	err error
}

// Error names the other instance's address, if known, its session, and how long its node
// has existed.
func (e *ConflictError) Error() string {
	i := e.Instance
	if i.Address == "" {
		return fmt.Sprintf("another instance has the ID: %v", e.err)
	}
	return fmt.Sprintf("an instance at %q, port %d, has the ID: %v", i.Address, cmp.Or(i.Port, i.TLSPort), e.err)
}

// Unwrap returns the error of the persistent node.
func (e *ConflictError) Unwrap() error { return e.err }
