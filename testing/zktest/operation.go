package zktest

import (
	"math/rand/v2"
	"slices"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// unknownOp is a request the server does not know. It ends the connection.
type unknownOp struct{ pathless }

func (unknownOp) runLocked(x *exchange, _ *wire.Encoder) wire.Code {
	x.last = true
	return wire.ErrUnimplemented
}

// malformedOp is a request that the server knows and cannot read, or cannot
// carry out because a string is null. A multi is given its zxid before it is
// read, and other writes before they are carried out.
type malformedOp struct {
	pathless
	takesZxid bool
}

func (o malformedOp) runLocked(x *exchange, _ *wire.Encoder) wire.Code {
	if o.takesZxid {
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

// alone makes a write a separate request.
type alone struct{ write }

func (a alone) runLocked(x *exchange, out *wire.Encoder) wire.Code {
	created, code := x.srv.commitLocked(x.conn, func(tx *datatree.Txn) wire.Code { return a.apply(tx, out) })
	x.req.Created = created
	return code
}
