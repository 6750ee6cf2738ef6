package zktest

import (
	"strings"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// existsOp is exists. The watch is set whether the node is there or not: that
// is how a client waits for a node to appear.
type existsOp struct{ watchingOp }

func decodeExists(d *wire.Decoder) operation { return existsOp{decodeWatching(d)} }

func (o existsOp) runLocked(x *exchange, out *wire.Encoder) wire.Code {
	if datatree.HasNUL(o.path) {
		return wire.ErrBadArguments
	}
	n, code := x.findLocked(o.path, wire.PermRead)
	if code == wire.ErrNoAuth && x.srv.cfg.Version38 {
		n, code = x.srv.tree.Node(o.path), wire.OK
	}
	if o.watch && code != wire.ErrNoAuth {
		x.leaveWatchLocked(datatree.WatchData, o.path)
	}
	if code != wire.OK {
		return code
	}
	out.Stat(n.Stat())
	return wire.OK
}

// getDataOp is getData. It sets its watch only if there is a node.
type getDataOp struct{ watchingOp }

func decodeGetData(d *wire.Decoder) operation { return getDataOp{decodeWatching(d)} }

func (o getDataOp) runLocked(x *exchange, out *wire.Encoder) wire.Code {
	n, code := x.findLocked(o.path, wire.PermRead)
	if code != wire.OK {
		return code
	}
	if o.watch {
		x.leaveWatchLocked(datatree.WatchData, o.path)
	}
	out.Buffer(n.Data)
	out.Stat(n.Stat())
	return wire.OK
}

// getChildrenOp is getChildren and getChildren2, which adds the stat. Both set
// their watch only if there is a node.
type getChildrenOp struct {
	watchingOp
	stat bool
}

func decodeGetChildren(d *wire.Decoder) operation { return getChildrenOp{decodeWatching(d), false} }

func decodeGetChildren2(d *wire.Decoder) operation { return getChildrenOp{decodeWatching(d), true} }

func (o getChildrenOp) runLocked(x *exchange, out *wire.Encoder) wire.Code {
	n, code := x.findLocked(o.path, wire.PermRead)
	if code != wire.OK {
		return code
	}
	if o.watch {
		x.leaveWatchLocked(datatree.WatchChild, o.path)
	}
	out.Strings(x.namesLocked(n))
	if o.stat {
		out.Stat(n.Stat())
	}
	return wire.OK
}

// getEphemeralsOp lists the session's own ephemeral nodes below a prefix.
type getEphemeralsOp struct{ pathOp }

func decodeGetEphemerals(d *wire.Decoder) operation { return getEphemeralsOp{pathOp{d.Nullable()}} }

func (o getEphemeralsOp) runLocked(x *exchange, out *wire.Encoder) wire.Code {
	var paths []string
	prefix := strings.TrimFunc(o.path, func(r rune) bool { return r <= ' ' }) // what Java's trim does
	for _, path := range x.srv.tree.EphemeralsOf(x.conn.sess.id) {
		if prefix == "" || prefix == "/" || strings.HasPrefix(path, o.path) {
			paths = append(paths, path)
		}
	}
	x.shuffle(paths)
	out.Strings(paths)
	return wire.OK
}

// getACLOp is getACL.
type getACLOp struct{ pathOp }

func decodeGetACL(d *wire.Decoder) operation { return getACLOp{pathOp{d.String()}} }

func (o getACLOp) runLocked(x *exchange, out *wire.Encoder) wire.Code {
	n, code := x.findLocked(o.path, wire.PermRead|wire.PermAdmin)
	if code != wire.OK {
		return code
	}
	acl := n.ACL
	if len(acl) == 0 {
		acl = datatree.OpenACL
	}
	if !datatree.Permitted(n.ACL, x.conn.ids, wire.PermAdmin) {
		acl = datatree.MaskDigests(acl)
	}
	out.ACLs(acl)
	out.Stat(n.Stat())
	return wire.OK
}
