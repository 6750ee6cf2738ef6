package zktest

import (
	"math/rand/v2"
	"slices"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// unknownOp is a request of an unknown type. It ends the connection.
type unknownOp struct{ pathless }

func (unknownOp) runLocked(x *exchange, _ *wire.Encoder) wire.Code {
	x.last = true
	return wire.ErrUnimplemented
}

// malformedOp is a request of a known type that the server cannot read, or cannot carry out
// because a string is null. A multi takes its zxid before the server reads it, and any other
// write before the server carries it out.
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

// pathless is a part of requests without a path.
type pathless struct{}

func (pathless) target() string { return "" }

// pathOp is the common part of requests that begin with a path.
type pathOp struct{ path string }

func (o pathOp) target() string { return o.path }

// watchingOp is the common part of reads: a path, and whether the read sets a watch.
type watchingOp struct {
	pathOp
	watch bool
}

func (o watchingOp) watches() bool { return o.watch }

func decodeWatching(d *wire.Decoder) watchingOp {
	return watchingOp{pathOp{d.String()}, d.Bool()}
}

// findLocked returns the node of a read, if the client has one of the permissions. Reads do
// not check whether a path is well-formed, and an empty path is the root.
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

// shuffle puts a listing into a random order, which is the same for the same seed. The order of a map does
// not suffice: Go iterates over a small map from a random place, but always in the same
// sequence.
func (x *exchange) shuffle(list []string) {
	shuffle := rand.Shuffle
	if rng := x.conn.rng; rng != nil {
		slices.Sort(list) // the order of a map does not depend on the seed
		shuffle = rng.Shuffle
	}
	shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

// leaveWatchLocked registers a one-shot watch.
func (x *exchange) leaveWatchLocked(kind datatree.WatchKind, path string) {
	x.srv.watches.Add(x.conn, datatree.WatchKey{Kind: kind, Path: path}, datatree.WatchOnce)
}

// write is a request that changes the tree, alone or as a part of a multi.
type write interface {
	// target returns the path of the request.
	target() string
	// result returns the type of the answer inside a multi.
	result() wire.Op
	// apply checks and performs the request, and writes the body of the answer. If the
	// code is not ok, apply has not changed the tree.
	apply(tx *datatree.Txn, out *wire.Encoder) wire.Code
}

// alone makes a write a separate request.
type alone struct{ write }

func (a alone) runLocked(x *exchange, out *wire.Encoder) wire.Code {
	created, code := x.srv.commitLocked(x.conn, func(tx *datatree.Txn) wire.Code { return a.apply(tx, out) })
	x.req.Created = created
	return code
}
