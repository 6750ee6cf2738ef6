package sharednode

import "github.com/go-zookeeper/zk"

// Snapshot is the node as of one read or write of this client. It is immutable.
type Snapshot struct {
	Data         []byte
	Exists       bool
	Version      int32
	Czxid, Mzxid int64

	// From and To say as of which transaction this was so. They are the mzxid
	// if there is a node.
	From, To int64
}

// Present is a node as an answer of the server has it.
func Present(data []byte, stat *zk.Stat) *Snapshot {
	return &Snapshot{
		Data: data, Exists: true,
		Version: stat.Version, Czxid: stat.Czxid, Mzxid: stat.Mzxid,
		From: stat.Mzxid, To: stat.Mzxid,
	}
}

// Absent is no node. The server does not say as of which transaction. That is
// between the newest that the client knew of when it asked, and the newest that
// it knew of when it had the answer.
func Absent(asked, answered int64) *Snapshot { return &Snapshot{From: asked, To: answered} }

// IsAfter reports whether s is certainly newer. That there is no node is never
// certain: the server may lag behind.
func (s *Snapshot) IsAfter(other *Snapshot) bool {
	return other == nil || s.Exists && s.From > other.To
}

// IsBefore reports whether s, which exists, is certainly older. A node that was
// there at a transaction, and not at the same one, was written before.
func (s *Snapshot) IsBefore(other *Snapshot) bool {
	return s.Exists && other != nil && (s.Mzxid < other.From || s.Mzxid == other.From && !other.Exists)
}

// Same reports whether two snapshots are of the same write, or both of no node.
func (s *Snapshot) Same(other *Snapshot) bool {
	return other != nil && s.Exists == other.Exists && s.Mzxid == other.Mzxid
}
