package zktest

import (
	"math/rand/v2"
	"slices"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// operation is a decoded request. Each type of request has one, in a file of
// its own or together with its relatives: op_<request>.go.
type operation interface {
	// target is the path the request is about, "" if there is none.
	target() string
	// runLocked carries the request out and writes the body of the answer.
	runLocked(x *exchange, out *wire.Encoder) wire.Code
}

// writes decodes the requests that may stand alone or in a multi.
var writes = map[wire.Op]func(wire.Op, *wire.Decoder) write{
	wire.OpCreate:          decodeCreate,
	wire.OpCreate2:         decodeCreate,
	wire.OpCreateContainer: decodeCreate,
	wire.OpCreateTTL:       decodeCreate,
	wire.OpDelete:          decodeDelete,
	wire.OpSetData:         decodeSetData,
}

// others decodes the requests that only stand alone.
var others = map[wire.Op]func(*wire.Decoder) operation{
	wire.OpExists:               decodeExists,
	wire.OpGetData:              decodeGetData,
	wire.OpDeleteContainer:      decodeDeleteContainer,
	wire.OpGetACL:               decodeGetACL,
	wire.OpSetACL:               decodeSetACL,
	wire.OpGetChildren:          decodeGetChildren,
	wire.OpGetChildren2:         decodeGetChildren2,
	wire.OpGetAllChildrenNumber: decodeGetAllChildrenNumber,
	wire.OpGetEphemerals:        decodeGetEphemerals,
	wire.OpSync:                 decodeSync,
	wire.OpPing:                 decodePing,
	wire.OpMulti:                decodeMulti,
	wire.OpMultiRead:            decodeMultiRead,
	wire.OpAuth:                 decodeAuth,
	wire.OpSASL:                 decodeSASL,
	wire.OpWhoAmI:               decodeWhoAmI,
	wire.OpSetWatches:           decodeSetWatches,
	wire.OpSetWatches2:          decodeSetWatches2,
	wire.OpAddWatch:             decodeAddWatch,
	wire.OpCheckWatches:         decodeCheckWatches,
	wire.OpRemoveWatches:        decodeRemoveWatches,
	wire.OpReconfig:             decodeReconfig,
	wire.OpCloseSession:         decodeCloseSession,
}

// decodeRequest reads a frame. The error is about the header; a request that is
// unknown, or whose body cannot be read, is an operation too, and gets an
// answer.
func decodeRequest(frame []byte, v Version) (xid int32, kind wire.Op, op operation, err error) {
	d := &wire.Decoder{Buf: frame}
	xid, kind = d.Int32(), wire.Op(d.Int32())
	if d.Err != nil {
		return 0, 0, nil, d.Err
	}
	if decode, known := writes[kind]; known {
		op = alone{decode(kind, d)}
	} else if decode, known := others[kind]; known {
		op = decode(d)
	} else if !v.isBefore39() || kind != wire.OpCheck || readable(d) {
		return xid, kind, unknownOp{}, nil
	}
	_, isWrite := writes[kind]
	switch {
	case d.Err != nil && (kind == wire.OpAuth || kind == wire.OpSASL):
		return 0, 0, nil, d.Err // a real server reads these two where it reads the header
	case d.Err != nil:
		op = malformedOp{takesZxid: kind == wire.OpMulti, write: isWrite || kind == wire.OpSetACL || kind == wire.OpCheck}
	case d.Null && kind != wire.OpAuth:
		op = malformedOp{takesZxid: isWrite || kind == wire.OpMulti || kind == wire.OpSetACL}
	}
	return xid, kind, op, nil
}

// readable reads a check. A server of 3.8 knows it outside a multi as well, and
// answers it if it cannot be read.
func readable(d *wire.Decoder) bool {
	decodeCheck(wire.OpCheck, d)
	return d.Err == nil
}

// unknownOp is a request the server does not know. It ends the connection.
type unknownOp struct{ pathless }

func (unknownOp) runLocked(x *exchange, _ *wire.Encoder) wire.Code {
	x.last = true
	return wire.ErrUnimplemented
}

// malformedOp is a request that the server knows and cannot read, or cannot
// carry out because a string is null. A multi is given its zxid before it is
// read, and other writes before they are carried out, or in 3.8 before they are
// read.
type malformedOp struct {
	pathless
	takesZxid bool
	write     bool
}

func (o malformedOp) runLocked(x *exchange, _ *wire.Encoder) wire.Code {
	if o.takesZxid || o.write && x.srv.cfg.version.isBefore39() {
		x.srv.takeZxidLocked()
	}
	return wire.ErrMarshalling
}

// pathless is the target of requests that are not about a node.
type pathless struct{}

func (pathless) target() string { return "" }

// pathOp is the common part of the requests that begin with a path.
type pathOp struct{ path string }

func (o pathOp) target() string { return o.path }

// watchingOp is the common part of the reads: a path, and whether to leave a
// watch.
type watchingOp struct {
	pathOp
	watch bool
}

func (o watchingOp) watches() bool { return o.watch }

func decodeWatching(d *wire.Decoder) watchingOp {
	return watchingOp{pathOp{d.String()}, d.Bool()}
}

// findLocked returns the node a read is about, if the client has one of the
// permissions. Reads do not check whether a path is well-formed, and take ""
// for the root.
func (x *exchange) findLocked(path string, perms int32) (*datatree.Node, wire.Code) {
	n := x.srv.tree.Node(path)
	switch {
	case n == nil:
		return nil, wire.ErrNoNode
	case !datatree.Permitted(n.ACL, x.conn.ids, perms):
		return nil, wire.ErrNoAuth
	}
	return n, wire.OK
}

// namesLocked returns the names of the children for a listing.
func (x *exchange) namesLocked(n *datatree.Node) []string {
	names := n.Names()
	x.shuffle(names)
	return names
}

// shuffle gives a listing one of all possible orders. The order of a map is not
// enough: Go begins a small one at a random place and goes on in always the
// same way. Under a seed the same list comes in the same order again.
func (x *exchange) shuffle(list []string) {
	shuffle := rand.Shuffle
	if rng := x.conn.rng; rng != nil {
		slices.Sort(list) // the order of a map knows of no seed
		shuffle = rng.Shuffle
	}
	shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

// leaveWatchLocked registers a watch that is good for one event.
func (x *exchange) leaveWatchLocked(kind datatree.WatchKind, path string) {
	x.srv.watches.Add(x.conn, datatree.WatchKey{Kind: kind, Path: path}, datatree.WatchOnce)
}

// write is a request that changes the tree, alone or as a part of a multi.
type write interface {
	// target is the path the request is about.
	target() string
	// result is the type of the answer inside a multi.
	result() wire.Op
	// apply checks and performs the request and writes the body of the answer.
	// If the code is not ok, the tree is as it was before.
	apply(tx *datatree.Txn, out *wire.Encoder) wire.Code
}

// alone makes a write a request of its own.
type alone struct{ write }

func (a alone) runLocked(x *exchange, out *wire.Encoder) wire.Code {
	created, code := x.srv.commitLocked(x.conn, func(tx *datatree.Txn) wire.Code { return a.apply(tx, out) })
	x.req.Created = created
	return code
}
