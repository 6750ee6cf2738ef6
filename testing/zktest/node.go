package zktest

// Node is a node as it is now.
type Node struct {
	Path string
	Data []byte
	Stat Stat
	ACL  []ACL
}

// Stat is what a client sees of a node besides its data.
type Stat struct {
	Czxid, Mzxid                int64 // transactions that created the node and last changed its data
	Ctime, Mtime                int64 // the same two, in milliseconds since 1970
	Version, Cversion, Aversion int32 // changes of data, of children, of the ACL
	EphemeralOwner              int64 // session of an ephemeral node, else 0
	DataLength, NumChildren     int32
	Pzxid                       int64 // transaction that last created or deleted a child
}

// ACL grants permissions to a client, or a group of them.
type ACL struct {
	Perms      int32
	Scheme, ID string
}
