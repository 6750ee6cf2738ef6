package wire

// ID is the identity of a client or of several clients in an ACL.
type ID struct{ Scheme, ID string }

// ACL grants permissions to an ID.
type ACL struct {
	Perms int32
	ID
}

// These are the permissions of an ACL.
const (
	PermRead int32 = 1 << iota
	PermWrite
	PermCreate
	PermDelete
	PermAdmin

	PermAll = PermRead | PermWrite | PermCreate | PermDelete | PermAdmin
)

// ACLs reads a vector of ACLs.
func (d *Decoder) ACLs() []ACL {
	list := make([]ACL, d.Count(12))
	for i := range list {
		list[i] = ACL{Perms: d.Int32(), ID: d.id()}
	}
	return list
}

// ACLs writes a vector of ACLs.
func (e *Encoder) ACLs(list []ACL) {
	e.Int32(int32(len(list)))
	for _, a := range list {
		e.Int32(a.Perms)
		e.String(a.Scheme)
		e.String(a.ID.ID)
	}
}

// Stat writes a Stat.
func (e *Encoder) Stat(s Stat) {
	e.Int64(s.Czxid)
	e.Int64(s.Mzxid)
	e.Int64(s.Ctime)
	e.Int64(s.Mtime)
	e.Int32(s.Version)
	e.Int32(s.Cversion)
	e.Int32(s.Aversion)
	e.Int64(s.EphemeralOwner)
	e.Int32(s.DataLength)
	e.Int32(s.NumChildren)
	e.Int64(s.Pzxid)
}

// Stat is a node's Stat, as clients receive it.
type Stat struct {
	Czxid, Mzxid                int64 // transactions that created the node and last changed its data
	Ctime, Mtime                int64 // the same two, in milliseconds since 1970
	Version, Cversion, Aversion int32 // changes of the data, the children and the ACL
	EphemeralOwner              int64 // session of an ephemeral node, else 0
	DataLength, NumChildren     int32
	Pzxid                       int64 // transaction that last created or deleted a child
}

// Stat reads a Stat.
func (d *Decoder) Stat() Stat {
	return Stat{
		Czxid: d.Int64(), Mzxid: d.Int64(), Ctime: d.Int64(), Mtime: d.Int64(),
		Version: d.Int32(), Cversion: d.Int32(), Aversion: d.Int32(), EphemeralOwner: d.Int64(),
		DataLength: d.Int32(), NumChildren: d.Int32(), Pzxid: d.Int64(),
	}
}

// id reads the identity of an entry. With the scheme "auth", the id has no meaning.
func (d *Decoder) id() ID {
	scheme := d.String()
	if scheme == "auth" {
		return ID{scheme, d.Nullable()}
	}
	return ID{scheme, d.String()}
}
