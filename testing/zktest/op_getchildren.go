package zktest

import (
	"strings"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

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
