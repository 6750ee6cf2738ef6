package transport

// gate holds requests back on a fresh connection until the library has set its watches again.
//
// The library queues setWatches behind whatever its callers have queued already. Served in that order, a caller would
// read a node's new data before it hears of the change that its old watch was for, which ZooKeeper promises cannot
// happen. The library also reads lastZxid for setWatches while replies may be advancing it.
type gate struct {
	missing watchTable // watches still to be set; the gate is open when there are none
	forced  bool       // the gate is open although there are
	held    []byte     // complete frames, in order
	waiting []request
}

func (g *gate) open() bool { return g.forced || len(g.missing) == 0 }

// passes reports whether a request may go out now.
func (g *gate) passes(op int32) bool {
	switch op {
	case opSetAuth, opSetWatches, opPing, opClose:
		return true
	}
	return g.open()
}

// passed notes a request that went out, and reports whether it opened the gate. A ping opens it too, so that
// requests would be late but not stuck if the library ever set fewer watches than it has.
func (g *gate) passed(r request) (opened bool) {
	wasOpen := g.open()
	switch r.op {
	case opSetWatches:
		for _, w := range r.sets {
			delete(g.missing, w)
		}
	case opPing:
		g.forced = true
	}
	return g.open() && !wasOpen
}

func (g *gate) hold(r request, frame []byte) {
	g.held = append(g.held, frame...)
	g.waiting = append(g.waiting, r)
}

// release returns what was held and forgets it.
func (g *gate) release() ([]byte, []request) {
	held, waiting := g.held, g.waiting
	g.held, g.waiting = nil, nil
	return held, waiting
}
