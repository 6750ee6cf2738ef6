package datatree

import (
	"maps"
	"slices"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// Kind is the kind of a node.
type Kind uint8

// The kinds of nodes.
const (
	Persistent Kind = iota
	Ephemeral
	Container
	TTLNode
)

// Node is one znode. A node knows its children by name only; the nodes
// themselves are in the tree. Only the tree changes a Node.
type Node struct {
	Data     []byte
	ACL      []wire.ACL
	Children map[string]struct{} // nil until the first child
	Kind     Kind
	Owner    int64 // the session of an ephemeral node
	TTL      int64 // milliseconds, for a TTLNode

	Czxid, Mzxid, Pzxid int64
	Ctime, Mtime        int64
	Version, Aversion   int32

	// Created counts the children ever created, and is the suffix of the next
	// sequential child. It is never lowered: see add for what that means at
	// 2^31-1.
	Created int32
}

// Stat derives what clients see. ZooKeeper stores only the number of creations
// and shows creations plus deletions, which this arithmetic yields.
func (n *Node) Stat() wire.Stat {
	return wire.Stat{
		Czxid: n.Czxid, Mzxid: n.Mzxid, Pzxid: n.Pzxid,
		Ctime: n.Ctime, Mtime: n.Mtime,
		Version: n.Version, Aversion: n.Aversion,
		Cversion:       2*n.Created - int32(len(n.Children)),
		EphemeralOwner: n.Owner,
		DataLength:     int32(len(n.Data)),
		NumChildren:    int32(len(n.Children)),
	}
}

// Names returns the names of the children in no order.
func (n *Node) Names() []string {
	return slices.AppendSeq(make([]string, 0, len(n.Children)), maps.Keys(n.Children))
}
