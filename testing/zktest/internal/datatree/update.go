package datatree

import "github.com/gocurator/curator/testing/zktest/internal/wire"

// AnyVersion matches every version.
const AnyVersion int32 = -1

// SetData replaces the data of the node at path, if it has the version.
func (tx *Txn) SetData(path string, data []byte, version int32) (wire.Stat, wire.Code) {
	n, code := tx.checked(path, wire.PermWrite)
	if code != wire.OK {
		return wire.Stat{}, code
	}
	if version != AnyVersion && version != n.Version {
		return wire.Stat{}, wire.ErrBadVersion
	}
	tx.record(wire.EventDataChanged, path, n, tx.Tree.setData(path, data, tx.Zxid, tx.Now))
	return n.Stat(), wire.OK
}

// Check fails unless the node at path has the version.
func (tx *Txn) Check(path string, version int32) wire.Code {
	n, code := tx.checked(path, wire.PermRead)
	if code != wire.OK {
		return code
	}
	if version != AnyVersion && version != n.Version {
		return wire.ErrBadVersion
	}
	return wire.OK
}

// SetACL replaces the ACL of a node, if the ACL has the version. A multi cannot contain this
// operation, so there is no rollback.
func (tx *Txn) SetACL(path string, acl []wire.ACL, version int32) (wire.Stat, wire.Code) {
	if !ValidPath(path) {
		return wire.Stat{}, wire.ErrBadArguments
	}
	fixed := tx.fixACL(acl)
	if fixed == nil {
		return wire.Stat{}, wire.ErrInvalidACL
	}
	n, code := tx.checked(path, wire.PermAdmin)
	if code != wire.OK {
		return wire.Stat{}, code
	}
	if version != AnyVersion && version != n.Aversion {
		return wire.Stat{}, wire.ErrBadVersion
	}
	tx.Tree.setACL(path, fixed)
	return n.Stat(), wire.OK
}

// SetNextSequence sets the number that the next sequential child of the node at
// path gets.
func (tx *Txn) SetNextSequence(path string, next int32) wire.Code {
	if tx.Tree.nodes[path] == nil {
		return wire.ErrNoNode
	}
	tx.Tree.setNextSequence(path, next)
	return wire.OK
}

// checked returns the node of a write, if the path is well-formed, the node exists, and the
// client has one of the permissions.
func (tx *Txn) checked(path string, perms int32) (*Node, wire.Code) {
	if !ValidPath(path) {
		return nil, wire.ErrBadArguments
	}
	n := tx.Tree.nodes[path]
	switch {
	case n == nil:
		return nil, wire.ErrNoNode
	case !tx.allows(n, perms):
		return nil, wire.ErrNoAuth
	}
	return n, wire.OK
}
