package datatree

import (
	"maps"
	"slices"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// Kind is the kind of a node.
type Kind uint8

// These are the kinds of nodes.
const (
	Persistent Kind = iota
	Ephemeral
	Container
	TTLNode
)

// Node is one znode. A node has only the names of its children; the tree has their nodes.
// Only the tree changes a Node.
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

	// Created is the number of children ever created, and the suffix of the next
	// sequential child. It never decreases; see add for the effect at 2^31-1.
	Created int32
}

// Stat returns the Stat that clients receive. ZooKeeper stores only the number of creations;
// the Cversion that clients receive counts creations and deletions.
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
