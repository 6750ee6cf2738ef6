package proto

import "github.com/gocurator/curator/framework/internal/jute"

// Stat is a server's information about a node other than its data. Times are
// milliseconds since 1970. The fields are the same as in go-zookeeper's Stat, so each
// converts to the other.
type Stat struct {
	Czxid          int64 // the transaction that created the node
	Mzxid          int64 // the transaction that last wrote its data
	Ctime          int64
	Mtime          int64
	Version        int32 // of the data
	Cversion       int32 // of the list of children
	Aversion       int32 // of the access control list
	EphemeralOwner int64 // the session of an ephemeral node, else 0
	DataLength     int32
	NumChildren    int32
	Pzxid          int64 // the transaction that last changed the children
}

// ACL is an entry of an access control list. The fields are the same as in
// go-zookeeper's ACL, so each converts to the other.
type ACL struct {
	Perms  int32
	Scheme string
	ID     string
}

// statSize is the size of a Stat in an answer.
const statSize = 6*8 + 5*4

func readStat(r *jute.Reader) *Stat {
	return &Stat{
		Czxid: r.Int64(), Mzxid: r.Int64(), Ctime: r.Int64(), Mtime: r.Int64(),
		Version: r.Int32(), Cversion: r.Int32(), Aversion: r.Int32(),
		EphemeralOwner: r.Int64(),
		DataLength:     r.Int32(), NumChildren: r.Int32(), Pzxid: r.Int64(),
	}
}

func appendACL(b []byte, acl []ACL) []byte {
	b = jute.AppendInt32(b, int32(len(acl)))
	for _, a := range acl {
		b = jute.AppendInt32(b, a.Perms)
		b = jute.AppendString(b, a.Scheme)
		b = jute.AppendString(b, a.ID)
	}
	return b
}

func readACL(r *jute.Reader) []ACL {
	const smallest = 4 + 4 + 4 // the permissions, and the lengths of two strings
	acl := make([]ACL, r.Count(smallest))
	for i := range acl {
		acl[i] = ACL{Perms: r.Int32(), Scheme: r.String(), ID: r.String()}
	}
	return acl
}
