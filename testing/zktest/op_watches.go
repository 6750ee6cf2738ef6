package zktest

// setWatchesOp is setWatches and setWatches2: a client that has reconnected sets
// its watches again, and hears at once of those that would have fired meanwhile.
type setWatchesOp struct {
	pathless
	seen                   int64 // the last zxid the client knows of
	data, exist, child     []string
	persistent, recursives []string
}

func decodeSetWatches(d *decoder) operation {
	return &setWatchesOp{seen: d.int64(), data: d.strings(), exist: d.strings(), child: d.strings()}
}

func decodeSetWatches2(d *decoder) operation {
	o := decodeSetWatches(d).(*setWatchesOp)
	o.persistent, o.recursives = d.strings(), d.strings()
	return o
}

func (o *setWatchesOp) run(x *exchange, _ *encoder) Code {
	nodes := x.srv.tree.nodes
	for _, path := range o.data {
		switch n := nodes[path]; {
		case n == nil:
			x.catchUp(eventDeleted, path)
		case n.mzxid > o.seen:
			x.catchUp(eventDataChanged, path)
		default:
			x.leaveWatch(WatchData, path)
		}
	}
	for _, path := range o.exist {
		if nodes[path] != nil {
			x.catchUp(eventCreated, path)
		} else {
			x.leaveWatch(WatchData, path)
		}
	}
	for _, path := range o.child {
		switch n := nodes[path]; {
		case n == nil:
			x.catchUp(eventDeleted, path)
		case n.pzxid > o.seen:
			x.catchUp(eventChildrenChanged, path)
		default:
			x.leaveWatch(WatchChild, path)
		}
	}
	for _, path := range o.persistent {
		x.leavePersistent(path)
	}
	for _, path := range o.recursives {
		x.leaveRecursive(path)
	}
	return ok
}

// catchUp sends the event of a change that happened while the client was away. Which
// transaction it was is not known any more, and nobody asks for permissions.
func (x *exchange) catchUp(event eventType, path string) {
	x.conn.notify(notification(event, path, -1))
}

// leavePersistent registers a watch of both tables that stays.
func (x *exchange) leavePersistent(path string) {
	x.srv.watches.add(x.conn, watchKey{WatchData, path}, watchPersistent)
	x.srv.watches.add(x.conn, watchKey{WatchChild, path}, watchPersistent)
}

// leaveRecursive registers a watch that stays and covers everything below. It is
// never told of "children changed": it gets the children's own events.
func (x *exchange) leaveRecursive(path string) {
	x.srv.watches.add(x.conn, watchKey{WatchData, path}, watchRecursive)
	if x.srv.cfg.oldWatches {
		x.srv.watches.add(x.conn, watchKey{WatchChild, path}, watchRecursive)
	}
}

// addWatchOp is addWatch: a watch that stays.
type addWatchOp struct {
	pathOp
	mode int32
}

func decodeAddWatch(d *decoder) operation { return addWatchOp{pathOp{d.string()}, d.int32()} }

func (o addWatchOp) run(x *exchange, out *encoder) Code {
	const modePersistent, modeRecursive = 0, 1
	switch o.mode {
	case modePersistent:
		x.leavePersistent(o.path)
	case modeRecursive:
		x.leaveRecursive(o.path)
	default:
		return ErrMarshalling
	}
	out.int32(0)
	return ok
}

// forgetWatchesOp is removeWatches and checkWatches, which only looks.
type forgetWatchesOp struct {
	pathOp
	kind   int32
	remove bool
}

func decodeCheckWatches(d *decoder) operation {
	return forgetWatchesOp{pathOp{d.string()}, d.int32(), false}
}

func decodeRemoveWatches(d *decoder) operation {
	return forgetWatchesOp{pathOp{d.string()}, d.int32(), true}
}

func (o forgetWatchesOp) run(x *exchange, _ *encoder) Code {
	modes := o.modes
	if x.srv.cfg.oldWatches {
		modes = o.oldModes
	}
	data, child := modes()
	if data|child == 0 {
		return ErrMarshalling
	}
	act := x.srv.watches.has
	if o.remove {
		act = x.srv.watches.remove
	}
	inData := act(x.conn, watchKey{WatchData, o.path}, data)
	inChild := act(x.conn, watchKey{WatchChild, o.path}, child)
	if !inData && !inChild {
		return ErrNoWatcher
	}
	return ok
}

// modes translates the request's kind into modes for the data and child tables.
func (o forgetWatchesOp) modes() (data, child watchMode) {
	switch o.kind {
	case 1:
		return 0, watchOnce
	case 2:
		return watchOnce, 0
	case 3:
		return watchAnyMode, watchAnyMode
	case 4:
		return watchPersistent, watchPersistent
	case 5:
		return watchRecursive, 0
	}
	return 0, 0
}

// oldModes is modes before 3.9, which removes whatever is in a table.
func (o forgetWatchesOp) oldModes() (data, child watchMode) {
	switch o.kind {
	case 1:
		return 0, watchAnyMode
	case 2:
		return watchAnyMode, 0
	case 3:
		return watchAnyMode, watchAnyMode
	}
	return 0, 0
}
