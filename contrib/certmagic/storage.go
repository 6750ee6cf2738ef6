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
// A key is a list of components between slashes. Slashes at its ends, and a second
// one in a row, mean nothing. Any other character may be in a component, and "."
// and ".." are names like others. A key may have a value and be the prefix of
// others, unlike a file.
//
// A read sees what each Store and Delete has done that has returned, in this process
// or another, with the exceptions of framework.Client.Sync. New makes a Storage; the
// zero value is of no use.
//
// The error of a call that has ended with its context matches context.Canceled or
// context.DeadlineExceeded, and has the text of the context's cause. It does not
// match the cause, which could be a key that another call has not found.
type Storage struct {
	client *framework.Client
	root   string
	acl    []zk.ACL

	mu   sync.Mutex       // protects the following field, and the leases in it
	held map[string]*hold // the keys are the names of locks
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
		return nil, fmt.Errorf("%w: there must be one, as private keys are among the values", zk.ErrInvalidACL)
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
