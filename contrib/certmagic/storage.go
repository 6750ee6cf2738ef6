package certmagic

import (
	"fmt"
	"path"
	"slices"
	"sync"

	"github.com/caddyserver/certmagic"
	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
)

// Storage is a certmagic.Storage, with the optional methods of a
// certmagic.TryLocker and a certmagic.LockLeaseRenewer. It is safe for concurrent
// use.
//
// A key is a list of components between slashes. Slashes at the ends of a key, and
// repeated slashes, have no meaning. A component may contain any other character, and
// "." and ".." are ordinary names. Unlike a file, a key may have a value and be the
// prefix of other keys.
//
// A read sees the effect of every Store and Delete that has returned, in this process
// or another, with the exceptions of framework.Client.Sync. New returns a Storage; the
// zero value cannot be used.
//
// If the end of its context ends a call, the error matches context.Canceled or
// context.DeadlineExceeded, and contains the text of the context's cause. The error
// does not match the cause, which could be an error about a missing key from another
// call.
type Storage struct {
	client *framework.Client
	root   string
	acl    []zk.ACL

	mu   sync.Mutex       // protects held and its leases
	held map[string]*hold // by the names of locks
}

var (
	_ certmagic.Storage          = (*Storage)(nil)
	_ certmagic.TryLocker        = (*Storage)(nil)
	_ certmagic.LockLeaseRenewer = (*Storage)(nil)
)

// New returns a Storage whose nodes are below root, without a request. All processes that
// share certificates need the same root. A process should make one Storage, because a Storage
// knows only the locks that were taken with it.
//
// acl is the access control list of the nodes of keys, and of missing parents. Existing nodes
// keep their lists. The values contain private keys, so an empty list is an error, which
// matches zk.ErrInvalidACL. zk.AuthACL(zk.PermAll) is right for processes that share
// credentials by framework.WithAuth. The nodes of locks contain no secrets, and have the list
// of the client's framework.WithACLProvider. That list should also exclude strangers, who could
// delete the nodes.
func New(c *framework.Client, root string, acl []zk.ACL) (*Storage, error) {
	switch {
	case c == nil:
		return nil, &framework.ConfigError{Name: "client", Value: "nil", Reason: "must not be nil"}
	case root == "" || root[0] != '/':
		return nil, fmt.Errorf("%w: %q", zk.ErrInvalidPath, root)
	case len(acl) == 0:
		return nil, fmt.Errorf("%w: a list is required, because the values include private keys", zk.ErrInvalidACL)
	}
	if _, err := c.Namespace(root); err != nil {
		return nil, err
	}
	return &Storage{client: c, root: root, acl: slices.Clone(acl), held: map[string]*hold{}}, nil
}

// String returns the name of the Storage in the log of certmagic.
func (s *Storage) String() string { return "ZooKeeper:" + s.root }

// folder returns the path of one of the two folders below the root.
func (s *Storage) folder(name string) string { return path.Join(s.root, name) }
