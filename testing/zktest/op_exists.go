package zktest

import (
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
	if code == wire.ErrNoAuth && x.srv.cfg.version.isBefore39() {
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
