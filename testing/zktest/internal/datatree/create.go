package datatree

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// Create creates the node of a request and returns its path, with the number of a
// sequential node. Create makes its checks in ZooKeeper's order, because a client gets the
// error of the first check that fails.
func (tx *Txn) Create(r *wire.CreateRequest) (string, wire.Code) {
	if code := tx.checkMode(r); code != wire.OK {
		return "", code
	}
	slash := strings.LastIndexByte(r.Path, '/')
	if slash < 0 || HasNUL(r.Path) {
		return "", wire.ErrBadArguments
	}
	acl := tx.fixACL(r.ACL)
	if acl == nil {
		return "", wire.ErrInvalidACL
	}
	parent := tx.Tree.nodes[cmp.Or(r.Path[:slash], "/")]
	if parent == nil {
		return "", wire.ErrNoNode
	}
	if !tx.allows(parent, wire.PermCreate) {
		return "", wire.ErrNoAuth
	}
	path, number := r.Path, tx.sequence(parent)
	if r.Sequential() {
		path += fmt.Sprintf("%010d", number)
	}
	switch {
	case !ValidPath(path):
		return "", wire.ErrBadArguments
	case tx.Tree.nodes[path] != nil:
		return "", wire.ErrNodeExists
	case parent.Kind == Ephemeral:
		return "", wire.ErrNoChildrenForEphemerals
	}
	n := tx.newNode(r, acl)
	tx.record(wire.EventCreated, path, n, tx.Tree.add(path, n, number+1, tx.Zxid, tx.Now))
	tx.counted(parent, number+1)
	tx.Created = path
	return path, wire.OK
}

// checkMode checks the flags and the TTL against each other.
func (tx *Txn) checkMode(r *wire.CreateRequest) wire.Code {
	const maxTTL = 1<<40 - 1 // in a real node, the TTL shares the owner field with a marker
	switch {
	case r.Flags < 0 || r.Flags > wire.MaxFlags:
		return wire.ErrBadArguments
	case r.HasTTL() && !tx.TTLNodes:
		return wire.ErrUnimplemented
	case r.HasTTL() && (r.TTL <= 0 || r.TTL > maxTTL):
		return wire.ErrBadArguments
	case !r.HasTTL() && r.Op == wire.OpCreateTTL:
		return wire.ErrBadArguments
	}
	return wire.OK
}

// newNode chooses the kind of the node. As in a real server, the type of the request decides
// first: a plain create with the container flag creates a persistent node, and
// createContainer with the ephemeral flag creates a container.
func (tx *Txn) newNode(r *wire.CreateRequest, acl []wire.ACL) *Node {
	n := &Node{Data: bytes.Clone(r.Data), ACL: acl}
	switch {
	case r.Op == wire.OpCreateContainer:
		n.Kind = Container
	case r.Op == wire.OpCreateTTL:
		n.Kind, n.TTL = TTLNode, r.TTL
	case r.Ephemeral():
		n.Kind, n.Owner = Ephemeral, tx.Session
	}
	return n
}
