package proto

import "github.com/gocurator/curator/framework/internal/jute"

// These are modes of nodes, as in CreateMode of ZooKeeper.
const (
	ModePersistent              int32 = 0
	ModeEphemeral               int32 = 1
	ModePersistentSequential    int32 = 2
	ModeEphemeralSequential     int32 = 3
	ModeContainer               int32 = 4
	ModePersistentTTL           int32 = 5
	ModePersistentSequentialTTL int32 = 6
)

// NewNode describes a node to create.
type NewNode struct {
	Path      string
	Data      []byte
	ACL       []ACL
	Mode      int32
	TTLMillis int64 // for the TTL modes
}

// Created is the answer to Create.
type Created struct {
	Path  string // includes a sequential node's number
	Czxid int64
}

// Create creates a node. An answer about a node with another path is malformed.
func Create(n NewNode) Request[Created] {
	return Request[Created]{
		Op: n.op(), Append: n.append, path: createdPath{n.Path, n.sequential()}, read: readCreated,
	}
}

func readCreated(path createdPath, body []byte, zxid int64) (Created, bool) {
	r := jute.NewReader(body)
	c := Created{r.String(), zxid}
	return c, !r.Bad() && path.is(c.Path)
}

// createdPath is the path of the node that a Create creates.
type createdPath struct {
	asked    string // empty for other requests
	numbered bool   // a number follows
}

// is reports whether the request may have created the node at this path.
func (p createdPath) is(path string) bool {
	if p.numbered {
		return len(path) > len(p.asked) && path[:len(p.asked)] == p.asked
	}
	return path == p.asked
}

func (n NewNode) sequential() bool {
	switch n.Mode {
	case ModePersistentSequential, ModeEphemeralSequential, ModePersistentSequentialTTL:
		return true
	default:
		return false
	}
}

func (n NewNode) op() int32 {
	switch n.Mode {
	case ModeContainer:
		return OpCreateContainer
	case ModePersistentTTL, ModePersistentSequentialTTL:
		return OpCreateTTL
	default:
		return OpCreate
	}
}

func (n NewNode) append(b []byte) []byte {
	b = jute.AppendBuffer(jute.AppendString(b, n.Path), n.Data)
	b = jute.AppendInt32(appendACL(b, n.ACL), n.Mode)
	if n.op() == OpCreateTTL {
		b = jute.AppendInt64(b, n.TTLMillis)
	}
	return b
}

// SetData writes a node's data if the node has the version.
func SetData(path string, data []byte, version int32) Request[*Stat] {
	return Request[*Stat]{Op: OpSetData, Append: func(b []byte) []byte {
		return jute.AppendInt32(jute.AppendBuffer(jute.AppendString(b, path), data), version)
	}, read: readStatAnswer}
}

// SetACL writes a node's access control list if the list has the version.
func SetACL(path string, acl []ACL, version int32) Request[*Stat] {
	return Request[*Stat]{Op: OpSetACL, Append: func(b []byte) []byte {
		return jute.AppendInt32(appendACL(jute.AppendString(b, path), acl), version)
	}, read: readStatAnswer}
}

// Delete deletes a node if it has the version.
func Delete(path string, version int32) Request[Nothing] {
	return Request[Nothing]{Op: OpDelete, Append: pathAndVersion(path, version), read: readNothing}
}

// Check is a part of a multi, which fails unless the node has the version.
func Check(path string, version int32) Request[Nothing] {
	return Request[Nothing]{Op: OpCheck, Append: pathAndVersion(path, version), read: readNothing}
}

func pathAndVersion(path string, version int32) func([]byte) []byte {
	return func(b []byte) []byte { return jute.AppendInt32(jute.AppendString(b, path), version) }
}

// Auth shows the server credentials for this connection.
func Auth(scheme string, auth []byte) Request[Nothing] {
	return Request[Nothing]{Op: OpAuth, Append: func(b []byte) []byte {
		b = jute.AppendInt32(b, 0) // the type, which is always 0
		return jute.AppendBuffer(jute.AppendString(b, scheme), auth)
	}, read: readNothing}
}
