package proto

import (
	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/jute"
)

// Stat is go-zookeeper's Stat, which users of the client get.
type Stat = zk.Stat

// ACL is go-zookeeper's ACL, which users of the client get and set.
type ACL = zk.ACL

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
