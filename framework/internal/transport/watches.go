package transport

import "github.com/gocurator/curator/framework/internal/jute"

// Table is one of the two tables in which a server keeps a connection's watches. Watches of one table on one path are
// one watch to the server. The values are those of removeWatches.
type Table int32

// Children watches are set by listing a node's children, Data watches by reading its data or asking for its existence.
const (
	Children Table = 1
	Data     Table = 2
)

// Watch names a server's watch of this client.
type Watch struct {
	Path  string
	Table Table
}

// SetWatch is a watch that the server has.
type SetWatch struct {
	Watch
	Missing bool // the node did not exist when the watch was set
}

// Event is a watch event. Type and State are the protocol's numbers, which are also the library's.
type Event struct {
	Type, State int32
	Path        string
}

func (c *Conn) handleNotification(r reply) error {
	ev, err := parseEvent(r.body)
	if err == nil && c.link.cfg.Fired != nil {
		c.link.cfg.Fired(ev)
	}
	return err
}

// setWatchesSize bounds the paths in one setWatches request, far below what servers take, unless they are told to take
// less. A path that is longer still goes alone.
const setWatchesSize = 128 << 10

func (c *Conn) setWatchesSize() int {
	if limit := c.link.cfg.MaxRequest; limit > 0 {
		return min(setWatchesSize, limit-setWatchesHeader)
	}
	return setWatchesSize
}

// setWatchesHeader is what a setWatches request has besides the paths: xid, operation, zxid, and the lengths of its lists.
const setWatchesHeader = 4 + 4 + 8 + 3*lengthSize

// restoreLocked sets watches again. It must come before every other request: the server answers it with the events of
// what has happened since the newest zxid that this client has seen in an answer, and a read that overtook them would
// show the new data before the event.
//
// The answer to a batch tells a zxid that the watches of the next one have not seen yet. If the connection breaks in
// between, they must be set again as of before, so only the last answer counts.
func (c *Conn) restoreLocked(watches []SetWatch) {
	limit := c.setWatchesSize()
	var batch watchLists
	for _, w := range watches {
		if batch.size > 0 && batch.size+w.size() > limit {
			c.enqueueSetWatchesLocked(batch, true)
			batch = watchLists{}
		}
		batch.add(w)
	}
	if batch.size > 0 {
		c.enqueueSetWatchesLocked(batch, false)
	}
}

func (c *Conn) enqueueSetWatchesLocked(batch watchLists, more bool) {
	payload := func(b []byte) []byte {
		b = jute.AppendInt64(b, c.link.lastZxid)
		for _, paths := range [][]string{batch.data, batch.exist, batch.child} {
			b = jute.AppendInt32(b, int32(len(paths)))
			for _, path := range paths {
				b = jute.AppendString(b, path)
			}
		}
		return b
	}
	call, err := c.enqueueLocked(opSetWatches, payload, func(code int32, _ error) {
		if code != 0 { // those who wait for these watches would wait in vain
			c.Close()
		}
	})
	if err == nil { // else the connection is closed, and the next one gets them
		call.ignoreZxid = more
	}
}

// watchLists are watches by what the server needs to know to tell whether they have fired meanwhile.
type watchLists struct {
	data, exist, child []string
	size               int
}

func (l *watchLists) add(w SetWatch) {
	list := &l.data
	switch {
	case w.Table == Children:
		list = &l.child
	case w.Missing:
		list = &l.exist
	}
	*list = append(*list, w.Path)
	l.size += w.size()
}

func (w SetWatch) size() int { return lengthSize + len(w.Path) }

// RemoveWatch takes a watch back from the server. Without a connection there is nothing to do: the server forgets the
// watches of a connection with it, and only those in Config.Watches are set again. Withdraw does no I/O. A request that
// sets the same watch again must be sent after it.
func (l *Link) RemoveWatch(w Watch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.conn
	if c == nil || !c.established {
		return
	}
	// It makes no difference what the server answers: if it had no such watch any more, that has fired.
	c.enqueueLocked(opRemoveWatches, func(b []byte) []byte {
		return jute.AppendInt32(jute.AppendString(b, w.Path), int32(w.Table))
	}, nil)
	c.signal()
}
