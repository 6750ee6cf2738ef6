package transport

import (
	"github.com/gocurator/curator/framework/internal/jute"

	"github.com/gocurator/curator/framework/internal/proto"
)

// PersistentWatch is a watch that stays when it has fired. It is told of
// everything that happens to its node and of every creation and deletion of a
// child. A recursive one is told of everything that happens to its node and to
// every node below it.
//
// A server before 3.9 has one watch for a path: the one that was set last takes
// the place of a standard or persistent one on the same path (ZOOKEEPER-4466).
// So persistent watches are set behind the standard ones, and the owner of the
// link sets no standard watch where there is a persistent one.
type PersistentWatch struct {
	Path      string
	Recursive bool

	// Then is called as the function of Link.Send is: when the server has
	// answered, or cannot answer any more.
	Then func(code int32, err error)
}

// Modes of addWatch, as in AddWatchMode of ZooKeeper.
const (
	modePersistent int32 = 0
	modeRecursive  int32 = 1
)

// anyTable is ZooKeeper's WatcherType for all watches of a path. Servers before
// 3.9 know no other that takes all of a persistent watch away.
const anyTable Table = 3

// AddWatch sets a persistent watch. Without a connection there is nothing to
// do, and Then is not called: each new connection sets the watches of
// Config.Watches. AddWatch does no I/O. If too much is under way already, the
// request waits for room like others, and nobody waits for it.
func (l *Link) AddWatch(w *PersistentWatch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.conn
	if c == nil || !c.established {
		return
	}
	c.enqueueAddWatchLocked(w)
	c.signal()
}

func (c *Conn) enqueueAddWatchLocked(w *PersistentWatch) {
	mode := modePersistent
	if w.Recursive {
		mode = modeRecursive
	}
	r := Request{Op: proto.OpAddWatch, Then: w.Then, Payload: func(b []byte) []byte {
		return jute.AppendInt32(jute.AppendString(b, w.Path), mode)
	}}
	if c.fullLocked() {
		c.enqueueWaiterLocked([]Request{r})
		c.waitingWatches++
		return
	}
	c.enqueueLimitedLocked(0, r)
}

// RemoveWatches removes every watch on a path from the server, as RemoveWatch
// removes one.
func (l *Link) RemoveWatches(path string) { l.RemoveWatch(Watch{path, anyTable}) }
