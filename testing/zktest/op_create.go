package zktest

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
)

// createOp is create, create2, createContainer and createTTL.
type createOp struct {
	pathOp
	op    Op
	data  []byte
	acl   []ACL
	flags int32
	ttl   int64
}

func decodeCreate(op Op, d *decoder) write {
	o := &createOp{op: op}
	o.path, o.data, o.acl, o.flags = d.string(), d.buffer(), d.acls(), d.int32()
	if op == OpCreateTTL {
		o.ttl = d.int64()
	}
	return o
}

func (o *createOp) result() Op {
	if o.op == OpCreate {
		return OpCreate
	}
	return OpCreate2
}

func (o *createOp) sequential() bool {
	return o.flags == flagSequence || o.flags == flagEphemeralSeq || o.flags == flagTTLSequential
}

func (o *createOp) ephemeral() bool {
	return o.flags == flagEphemeral || o.flags == flagEphemeralSeq
}

func (o *createOp) withTTL() bool {
	return o.flags == flagTTL || o.flags == flagTTLSequential
}

func (o *createOp) apply(tx *txn, out *encoder) Code {
	path, code := o.create(tx)
	if code != ok {
		return code
	}
	out.string(path)
	if o.op != OpCreate {
		out.stat(tx.tree.nodes[path].stat())
	}
	return ok
}

// create makes the checks in ZooKeeper's order; clients see which one came first.
func (o *createOp) create(tx *txn) (string, Code) {
	if code := o.checkMode(tx); code != ok {
		return "", code
	}
	slash := strings.LastIndexByte(o.path, '/')
	if slash < 0 || hasNUL(o.path) {
		return "", ErrBadArguments
	}
	acl := fixACL(o.acl, tx.ids)
	if acl == nil {
		return "", ErrInvalidACL
	}
	parent := tx.tree.nodes[cmp.Or(o.path[:slash], "/")]
	if parent == nil {
		return "", ErrNoNode
	}
	if !tx.allows(parent, permCreate) {
		return "", ErrNoAuth
	}
	path, number := o.path, tx.sequence(parent)
	if o.sequential() {
		path += fmt.Sprintf("%010d", number)
	}
	switch {
	case !validPath(path):
		return "", ErrBadArguments
	case tx.tree.nodes[path] != nil:
		return "", ErrNodeExists
	case parent.kind == ephemeral:
		return "", ErrNoChildrenForEphemerals
	}
	if !tx.withinQuota(path, len(o.data), 1) {
		return "", ErrQuotaExceeded
	}
	n := o.newNode(tx, acl)
	tx.did(eventCreated, path, n, tx.tree.add(path, n, number+1, tx.zxid, tx.now))
	tx.counted(parent, number+1)
	tx.created = path
	return path, ok
}

// checkMode checks the flags and the TTL against each other.
func (o *createOp) checkMode(tx *txn) Code {
	const maxTTL = 1<<40 - 1 // what fits beside a marker in the owner field of a real node
	switch {
	case o.flags < 0 || o.flags > maxFlags:
		return ErrBadArguments
	case o.withTTL() && !tx.ttl:
		return ErrUnimplemented
	case o.withTTL() && (o.ttl <= 0 || o.ttl > maxTTL):
		return ErrBadArguments
	case !o.withTTL() && o.op == OpCreateTTL:
		return ErrBadArguments
	}
	return ok
}

// newNode decides the kind by the type of the request first: a plain create with
// the container flag makes a persistent node, and createContainer with the
// ephemeral flag a container, as on a real server.
func (o *createOp) newNode(tx *txn, acl []ACL) *node {
	n := &node{data: bytes.Clone(o.data), acl: acl}
	switch {
	case o.op == OpCreateContainer:
		n.kind = container
	case o.op == OpCreateTTL:
		n.kind, n.ttl = withTTL, o.ttl
	case o.ephemeral():
		n.kind, n.owner = ephemeral, tx.session
	}
	return n
}
