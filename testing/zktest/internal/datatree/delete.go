package datatree

import (
	"strings"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// Delete deletes the node at path, if it has the version and no children.
func (tx *Txn) Delete(path string, version int32) wire.Code {
	if !deletable(path) {
		return wire.ErrBadArguments
	}
	parent, n := tx.Tree.nodes[ParentOf(path)], tx.Tree.nodes[path]
	switch {
	case parent == nil:
		return wire.ErrNoNode
	case !tx.allows(parent, wire.PermDelete):
		return wire.ErrNoAuth
	case n == nil:
		return wire.ErrNoNode
	case version != AnyVersion && version != n.Version:
		return wire.ErrBadVersion
	case len(n.Children) > 0:
		return wire.ErrNotEmpty
	}
	tx.Remove(path)
	return wire.OK
}

// deletable makes the checks of a path that precede all other checks.
func deletable(path string) bool {
	return strings.Contains(path, "/") && !HasNUL(path) && !Reserved(path)
}

// Remove deletes a node without any check. The node must exist and have no children.
func (tx *Txn) Remove(path string) {
	n := tx.Tree.nodes[path]
	tx.record(wire.EventDeleted, path, n, tx.Tree.remove(path, tx.Zxid))
}
