package atomic

import (
	"time"

	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/random"
	"github.com/gocurator/curator/recipes/internal/follow"
)

// share is how several clients share a node that all of them write all the time.
// The node's version tells them whose turn it is, so they need no other request:
//
//   - A client writes in runs. Within a run it remembers its last write, and needs
//     one request for each. A run ends when the node's version is a multiple of
//     runLength.
//   - After its run, a client rests for a part of the time that it takes to get one.
//     So the client that has waited longest finds the fewest contenders.
//   - A client that was often beaten knows from the version how many writes are left
//     of the run of another client. One write takes about one round trip. The client
//     waits until then, and does not disturb the run.
//
// A client has no other client as long as its own writes are never too late: it
// makes runs of twice the length and does not rest. Its read between two runs is the
// chance of another client.
type share struct {
	beatenAt  time.Time     // when another client was faster last, or zero
	running   bool          // the last write that is known is this client's
	ended     time.Time     // the end of this client's last run, or zero
	waits     time.Duration // how long this client waits for a run: a mean in which the last one counts half
	roundTrip time.Duration // of the last request
}

const (
	// runLength is 8: eight clients then need about 1.5 requests for an Add. In longer
	// runs the others wait longer, in shorter runs more of the writes are too late.
	runLength = 8

	// A client is patient from this many lost writes on. Before, it tries again at
	// once: clients that write now and then are soon out of each other's way.
	patientAfter = 3

	// longestWait bounds how long one write may let other clients go first, and how
	// long a client takes others to be there.
	longestWait = time.Second
)

// untilEnd returns how many writes are left of the run that a version is in.
func untilEnd(version int32) time.Duration {
	return time.Duration((runLength - version%runLength) % runLength)
}

func (n *node) isCrowdedLocked() bool {
	return !n.beatenAt.IsZero() && n.now().Sub(n.beatenAt) < longestWait
}

// noteRoundTrip takes down how long a request took that began at a time.
func (n *node) noteRoundTrip(began time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.roundTrip = min(n.now().Sub(began), longestWait)
}

// runLocked notes a write of this client. waited is how long its call has let other
// clients go first.
func (n *node) runLocked(version int32, waited time.Duration) {
	if !n.running {
		n.running = true
		n.waits = (n.waits + min(waited, longestWait)) / 2
	}
	length := int32(runLength)
	if !n.isCrowdedLocked() {
		length *= 2
	}
	if version%length == 0 {
		n.endRunLocked()
	}
}

func (n *node) endRunLocked() {
	if n.running {
		n.ended = n.now()
	}
	n.running, n.seen = false, nil
}

// rest lets other clients go first after a run.
func (c *call) rest() {
	if d := c.restsFor(); d > 0 {
		c.patient = true
		c.pause(d)
	}
}

func (n *node) restsFor() time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.running || !n.isCrowdedLocked() {
		return 0
	}
	return n.waits*4/5 - n.now().Sub(n.ended)
}

// awaitEnd waits until another client's run ends, if it is in one. It reports
// whether it has waited, and does so once for each write.
func (c *call) awaitEnd(base *snapshot) bool {
	left := untilEnd(base.version)
	if !c.patient || c.awaited || left == 0 || c.isRunning() {
		return false
	}
	c.awaited = true
	if c.beaten > 0 && base.version == c.last+1 {
		return false // nothing was written since this client was beaten
	}
	c.forget(false)
	c.pauseFor(left - 1) // the next read takes a round trip, too
	return true
}

func (n *node) isRunning() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.running
}

// giveWay lets the client go first that has written after base.
func (c *call) giveWay(base *snapshot) {
	c.beaten++
	c.last, c.awaited = base.version, false
	c.patient = c.patient || c.beaten >= patientAfter
	switch {
	case !c.patient:
	case untilEnd(base.version) == 0: // the other client's run has just begun
		c.pauseFor(runLength - 2)
	default:
		c.pause(random.Duration(max(c.trip(), 1)))
	}
}

func (n *node) trip() time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.roundTrip
}

// pauseFor waits for the time of some writes of another client.
func (c *call) pauseFor(writes time.Duration) { c.pause(writes * c.trip()) }

// pause waits, unless the caller's context or the client ends: the next request says
// so.
func (c *call) pause(d time.Duration) {
	if d > 0 {
		_ = follow.Pause(c.ctx, c.client, &pauses.Growing{First: min(d, longestWait)})
	}
}

// waited is how long a call has let other clients go first.
func (c *call) waited() time.Duration {
	if !c.patient {
		return 0
	}
	return c.now().Sub(c.began)
}
