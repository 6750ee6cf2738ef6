package shared

import "github.com/go-zookeeper/zk"

// snapshot is the node as of one read or write of this client. It is immutable.
type snapshot struct {
	data         []byte
	exists       bool
	version      int32
	czxid, mzxid int64

	// As of which transaction this was so: a range, which is the mzxid if there
	// is a node.
	from, to int64
}

// present is a node as an answer of the server has it.
func present(data []byte, stat *zk.Stat) *snapshot {
	return &snapshot{
		data: data, exists: true,
		version: stat.Version, czxid: stat.Czxid, mzxid: stat.Mzxid,
		from: stat.Mzxid, to: stat.Mzxid,
	}
}

// absent is no node. The server does not say as of which transaction. That is
// between the newest that the client knew of when it asked, and the newest that
// it knew of when it had the answer.
func absent(asked, answered int64) *snapshot { return &snapshot{from: asked, to: answered} }

// isAfter reports whether s is certainly newer. That there is no node is never
// certain: the server may lag behind.
func (s *snapshot) isAfter(other *snapshot) bool {
	return other == nil || s.exists && s.from > other.to
}

// isBefore reports whether s, which exists, is certainly older. A node that was
// there at a transaction, and not at the same one, was written before.
func (s *snapshot) isBefore(other *snapshot) bool {
	return s.exists && other != nil && (s.mzxid < other.from || s.mzxid == other.from && !other.exists)
}

// same reports whether two snapshots are of the same write, or both of no node.
func (s *snapshot) same(other *snapshot) bool {
	return other != nil && s.exists == other.exists && s.mzxid == other.mzxid
}
