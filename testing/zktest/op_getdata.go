package zktest

import (
	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

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
