package zktest

import (
	"math/rand/v2"
	"slices"
)

// operation is a decoded request. Each type of request has one, in a file of its
// own or together with its relatives: op_<request>.go.
type operation interface {
	// target is the path the request is about, "" if there is none.
	target() string
	// run carries the request out and writes the body of the answer; s.mu is held.
	run(x *exchange, out *encoder) Code
}

// writes decodes the requests that may stand alone or in a multi.
var writes = map[Op]func(Op, *decoder) write{
	OpCreate:          decodeCreate,
	OpCreate2:         decodeCreate,
	OpCreateContainer: decodeCreate,
	OpCreateTTL:       decodeCreate,
	OpDelete:          decodeDelete,
	OpSetData:         decodeSetData,
}

// others decodes the requests that only stand alone.
var others = map[Op]func(*decoder) operation{
	OpExists:               decodeExists,
	OpGetData:              decodeGetData,
	OpDeleteContainer:      decodeDeleteContainer,
	OpGetACL:               decodeGetACL,
	OpSetACL:               decodeSetACL,
	OpGetChildren:          decodeGetChildren,
	OpGetChildren2:         decodeGetChildren2,
	OpGetAllChildrenNumber: decodeGetAllChildrenNumber,
	OpGetEphemerals:        decodeGetEphemerals,
	OpSync:                 decodeSync,
	OpPing:                 decodePing,
	OpMulti:                decodeMulti,
	OpMultiRead:            decodeMultiRead,
	OpAuth:                 decodeAuth,
	OpSASL:                 decodeSASL,
	OpWhoAmI:               decodeWhoAmI,
	OpSetWatches:           decodeSetWatches,
	OpSetWatches2:          decodeSetWatches2,
	OpAddWatch:             decodeAddWatch,
	OpCheckWatches:         decodeCheckWatches,
	OpRemoveWatches:        decodeRemoveWatches,
	OpReconfig:             decodeReconfig,
	OpCloseSession:         decodeCloseSession,
}

// decodeRequest reads a frame. The error is about the header; a request that is
// unknown, or whose body cannot be read, is an operation too, and gets an answer.
func decodeRequest(frame []byte) (xid int32, kind Op, op operation, err error) {
	d := &decoder{b: frame}
	xid, kind = d.int32(), Op(d.int32())
	if d.err != nil {
		return 0, 0, nil, d.err
	}
	if decode, known := writes[kind]; known {
		op = alone{decode(kind, d)}
	} else if decode, known := others[kind]; known {
		op = decode(d)
	} else {
		return xid, kind, unknownOp{}, nil
	}
	_, isWrite := writes[kind]
	switch {
	case d.err != nil && (kind == OpAuth || kind == OpSASL):
		return 0, 0, nil, d.err // a real server reads these two where it reads the header
	case d.err != nil:
		op = malformedOp{takesZxid: kind == OpMulti}
	case d.null && kind != OpAuth:
		op = malformedOp{takesZxid: isWrite || kind == OpMulti || kind == OpSetACL}
	}
	return xid, kind, op, nil
}

// unknownOp is a request the server does not know. It ends the connection.
type unknownOp struct{ pathless }

func (unknownOp) run(x *exchange, _ *encoder) Code {
	x.last = true
	return ErrUnimplemented
}

// malformedOp is a request that the server knows and cannot read, or cannot carry out
// because a string is null. A multi is given its zxid before it is read, and other writes
// before they are carried out.
type malformedOp struct {
	pathless
	takesZxid bool
}

func (o malformedOp) run(x *exchange, _ *encoder) Code {
	if o.takesZxid {
		x.srv.takeZxid()
	}
	return ErrMarshalling
}

// pathless is the target of requests that are not about a node.
type pathless struct{}

func (pathless) target() string { return "" }

// pathOp is the common part of the requests that begin with a path.
type pathOp struct{ path string }

func (o pathOp) target() string { return o.path }

// watchingOp is the common part of the reads: a path, and whether to leave a watch.
type watchingOp struct {
	pathOp
	watch bool
}

func (o watchingOp) watches() bool { return o.watch }

func decodeWatching(d *decoder) watchingOp {
	return watchingOp{pathOp{d.string()}, d.bool()}
}

// find returns the node a read is about, if the client has one of the permissions.
// Reads do not check whether a path is well-formed, and take "" for the root.
func (x *exchange) find(path string, perms int32) (*node, Code) {
	n := x.srv.tree.node(path)
	switch {
	case n == nil:
		return nil, ErrNoNode
	case !permitted(n.acl, x.conn.ids, perms):
		return nil, ErrNoAuth
	}
	return n, ok
}

// names returns the names of the children for a listing.
func (x *exchange) names(n *node) []string {
	names := n.names()
	x.shuffle(names)
	return names
}

// shuffle gives a listing one of all possible orders. The order of a map is not
// enough: Go begins a small one at a random place and goes on in always the same
// way. Under a seed the same list comes in the same order again.
func (x *exchange) shuffle(list []string) {
	shuffle := rand.Shuffle
	if dice := x.conn.dice; dice != nil {
		slices.Sort(list) // the order of a map knows of no seed
		shuffle = dice.Shuffle
	}
	shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

// leaveWatch registers a watch that is good for one event.
func (x *exchange) leaveWatch(kind WatchKind, path string) {
	x.srv.watches.add(x.conn, watchKey{kind, path}, watchOnce)
}
