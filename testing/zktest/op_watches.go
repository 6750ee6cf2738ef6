package zktest

import (
	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// setWatchesOp is setWatches and setWatches2. A client that has reconnected sets its
// watches again, and gets the events of changes that it has missed.
type setWatchesOp struct {
	pathless
	seen                   int64 // the newest zxid that the client has seen
	data, exist, child     []string
	persistent, recursives []string
}

func decodeSetWatches(d *wire.Decoder) operation {
	return &setWatchesOp{seen: d.Int64(), data: d.Strings(), exist: d.Strings(), child: d.Strings()}
}

func decodeSetWatches2(d *wire.Decoder) operation {
	o := decodeSetWatches(d).(*setWatchesOp)
	o.persistent, o.recursives = d.Strings(), d.Strings()
	return o
}

func (o *setWatchesOp) runLocked(x *exchange, _ *wire.Encoder) wire.Code {
	node := x.srv.tree.Node
	for _, path := range o.data {
		switch n := node(path); {
		case n == nil:
			x.catchUpLocked(wire.EventDeleted, path)
		case n.Mzxid > o.seen:
			x.catchUpLocked(wire.EventDataChanged, path)
		default:
			x.leaveWatchLocked(datatree.WatchData, path)
		}
	}
	for _, path := range o.exist {
		if node(path) != nil {
			x.catchUpLocked(wire.EventCreated, path)
		} else {
			x.leaveWatchLocked(datatree.WatchData, path)
		}
	}
	for _, path := range o.child {
		switch n := node(path); {
		case n == nil:
			x.catchUpLocked(wire.EventDeleted, path)
		case n.Pzxid > o.seen:
			x.catchUpLocked(wire.EventChildrenChanged, path)
		default:
			x.leaveWatchLocked(datatree.WatchChild, path)
		}
	}
	for _, path := range o.persistent {
		x.leavePersistentLocked(path)
	}
	for _, path := range o.recursives {
		x.leaveRecursiveLocked(path)
	}
	return wire.OK
}

// catchUpLocked sends the event of a change that happened while the client was disconnected.
// The server no longer knows the transaction, and does not check permissions.
func (x *exchange) catchUpLocked(event wire.EventType, path string) {
	x.conn.notifyLocked(event, path, wire.Notification(event, path, -1))
}

// leavePersistentLocked registers a persistent watch in both tables.
func (x *exchange) leavePersistentLocked(path string) {
	x.srv.watches.Add(x.conn, datatree.DataWatch(path), datatree.WatchPersistent)
	x.srv.watches.Add(x.conn, datatree.ChildWatch(path), datatree.WatchPersistent)
}

// leaveRecursiveLocked registers a persistent watch on a node and everything below it. The
// watch never gets "children changed", because it gets the children's own events.
func (x *exchange) leaveRecursiveLocked(path string) {
	x.srv.watches.Add(x.conn, datatree.DataWatch(path), datatree.WatchRecursive)
	if x.srv.cfg.Version38 {
		x.srv.watches.Add(x.conn, datatree.ChildWatch(path), datatree.WatchRecursive)
	}
}

// addWatchOp is the request addWatch, which sets a persistent watch.
type addWatchOp struct {
	pathOp
	mode int32
}

func decodeAddWatch(d *wire.Decoder) operation { return addWatchOp{pathOp{d.String()}, d.Int32()} }

func (o addWatchOp) runLocked(x *exchange, out *wire.Encoder) wire.Code {
	const modePersistent, modeRecursive = 0, 1
	switch o.mode {
	case modePersistent:
		x.leavePersistentLocked(o.path)
	case modeRecursive:
		x.leaveRecursiveLocked(o.path)
	default:
		return wire.ErrMarshalling
	}
	out.Int32(0)
	return wire.OK
}

// forgetWatchesOp is the request removeWatches, or checkWatches, which removes nothing. Java's
// client sends checkWatches when a program removes one of several watchers of a path.
type forgetWatchesOp struct {
	pathOp
	kind   int32
	remove bool
}

func decodeCheckWatches(d *wire.Decoder) operation {
	return forgetWatchesOp{pathOp{d.String()}, d.Int32(), false}
}

func decodeRemoveWatches(d *wire.Decoder) operation {
	return forgetWatchesOp{pathOp{d.String()}, d.Int32(), true}
}

func (o forgetWatchesOp) runLocked(x *exchange, _ *wire.Encoder) wire.Code {
	modes := o.modes
	if x.srv.cfg.Version38 {
		modes = o.modes38
	}
	data, child := modes()
	if data|child == 0 {
		return wire.ErrMarshalling
	}
	act := x.srv.watches.Has
	if o.remove {
		act = x.srv.watches.Remove
	}
	inData := act(x.conn, datatree.DataWatch(o.path), data)
	inChild := act(x.conn, datatree.ChildWatch(o.path), child)
	if !inData && !inChild {
		return wire.ErrNoWatcher
	}
	return wire.OK
}

// modes translates the request's kind into the modes for the data and child tables.
func (o forgetWatchesOp) modes() (data, child datatree.WatchMode) {
	switch o.kind {
	case 1:
		return 0, datatree.WatchOnce
	case 2:
		return datatree.WatchOnce, 0
	case 3:
		return datatree.WatchAnyMode, datatree.WatchAnyMode
	case 4:
		return datatree.WatchPersistent, datatree.WatchPersistent
	case 5:
		return datatree.WatchRecursive, 0
	}
	return 0, 0
}

// modes38 is modes for ZooKeeper 3.8, which removes a table's watch of any mode.
func (o forgetWatchesOp) modes38() (data, child datatree.WatchMode) {
	switch o.kind {
	case 1:
		return 0, datatree.WatchAnyMode
	case 2:
		return datatree.WatchAnyMode, 0
	case 3:
		return datatree.WatchAnyMode, datatree.WatchAnyMode
	}
	return 0, 0
}
