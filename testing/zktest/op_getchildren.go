package zktest

import (
	"cmp"
	"strings"
)

// getChildrenOp is getChildren and getChildren2, which adds the stat. Both set
// their watch only if there is a node.
type getChildrenOp struct {
	watchingOp
	stat bool
}

func decodeGetChildren(d *decoder) operation  { return getChildrenOp{decodeWatching(d), false} }
func decodeGetChildren2(d *decoder) operation { return getChildrenOp{decodeWatching(d), true} }

func (o getChildrenOp) run(x *exchange, out *encoder) Code {
	n, code := x.find(o.path, permRead)
	if code != ok {
		return code
	}
	if o.watch {
		x.leaveWatch(WatchChild, o.path)
	}
	out.strings(x.names(n))
	if o.stat {
		out.stat(n.stat())
	}
	return ok
}

// getAllChildrenNumberOp counts everything below a node.
type getAllChildrenNumberOp struct{ pathOp }

func decodeGetAllChildrenNumber(d *decoder) operation {
	return getAllChildrenNumberOp{pathOp{d.string()}}
}

func (o getAllChildrenNumberOp) run(x *exchange, out *encoder) Code {
	if _, code := x.find(o.path, permRead); code != ok {
		return code
	}
	total := x.srv.tree.countBelow(cmp.Or(o.path, "/"))
	if o.path == "" { // which has the root below it
		total++
	}
	out.int32(int32(total))
	return ok
}

// getEphemeralsOp lists the session's own ephemeral nodes below a prefix.
type getEphemeralsOp struct{ pathOp }

func decodeGetEphemerals(d *decoder) operation { return getEphemeralsOp{pathOp{d.nullable()}} }

func (o getEphemeralsOp) run(x *exchange, out *encoder) Code {
	var paths []string
	prefix := strings.TrimFunc(o.path, func(r rune) bool { return r <= ' ' }) // as Java's trim
	for _, path := range x.srv.tree.ephemeralsOf(x.conn.sess.id) {
		if prefix == "" || prefix == "/" || strings.HasPrefix(path, o.path) {
			paths = append(paths, path)
		}
	}
	x.shuffle(paths)
	out.strings(paths)
	return ok
}
