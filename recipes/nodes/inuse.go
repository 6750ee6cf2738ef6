package nodes

import (
	"sync"

	"github.com/gocurator/curator/framework"
)

// pathsInUse has the persistent nodes of this process whose names others could
// have, too. Two of one client could not tell their nodes apart: an ephemeral
// node is recognised by its session.
var pathsInUse = registry{byKey: map[nodeKey]*PersistentNode{}}

// registry finds persistent nodes by client and path.
type registry struct {
	mu    sync.Mutex // protects the following field
	byKey map[nodeKey]*PersistentNode
}

type nodeKey struct {
	client *framework.Client // the view that New returned
	path   string            // for that view
}

func keyOf(n *PersistentNode) nodeKey {
	return nodeKey{framework.Extend(n.client).Root().Client, framework.Extend(n.client).FullPath(n.path)}
}

// take starts a node, and reserves the path. The node is to be created after one
// that is being closed is gone, if there is one.
func (r *registry) take(n *PersistentNode, start func(before *PersistentNode) error) error {
	if n.cfg.unique() {
		return start(nil)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	key := keyOf(n)
	before := r.byKey[key]
	if before != nil && before.life.Err() == nil {
		return ErrInUse
	}
	err := start(before)
	if err == nil {
		r.byKey[key] = n
	}
	return err
}

// leave gives the path up, unless another node has taken it.
func (r *registry) leave(n *PersistentNode) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if key := keyOf(n); r.byKey[key] == n {
		delete(r.byKey, key)
	}
}
