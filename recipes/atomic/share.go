package atomic

import (
	"time"

	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/random"
	"github.com/gocurator/curator/recipes/internal/follow"
)

// share is how clients share a node that several of them write without a pause. The
// node's version tells them whose turn it is, so that they need no other request:
//
//   - A client writes in runs. In a run, it remembers its last write, so each write
//     is one request. A run ends where the version is a multiple of runLength.
//   - After its run, a client rests for nearly as many writes as other clients made
//     while it waited for that run. So a client that has waited for long has few
//     contenders, and the first one that comes gets the next run.
//   - A client that was beaten several times knows from the version how many writes
//     are left of another client's run, and that a write takes a round trip. It comes
//     again when that run ends.
//
// While no other client is faster, a client makes runs of twice the length, and does
// not rest. The read between two of its runs is the chance of the other clients.
type share struct {
	beatenAt  time.Time     // when another client was faster last, or zero
	running   bool          // the last write that is known is this client's
	ended     time.Time     // the end of this client's last run, or zero
	endedWith int32         // the version then
	waits     int32         // writes of others before a run: a mean in which the last run counts half
	roundTrip time.Duration // of a request: a mean in which the last one counts a quarter
}

const (
	// runLength makes eight clients need 1.5 requests for an Add. Other clients wait
	// longer for longer runs. In shorter runs, more writes are in vain.
	runLength = 8

	// patientAfter is how often a client is beaten before it lets other clients end
	// their runs. Clients that write now and then get out of each other's way sooner
	// if they try again at once.
	patientAfter = 3

	// longestWait bounds how long a client lets other clients go first before it
	// tries, and how long it takes them to be there after it was beaten.
	longestWait = time.Second
)

// untilEnd returns how many writes are left of the run that a version is in.
func untilEnd(version int32) time.Duration {
	return time.Duration((runLength - version%runLength) % runLength)
}

func (n *node) isCrowdedLocked() bool {
	return !n.beatenAt.IsZero() && n.now().Sub(n.beatenAt) < longestWait
}

// noteRoundTrip takes down how long a request took. One that was held up counts no
// more than twice the mean.
func (n *node) noteRoundTrip(began time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	took := n.now().Sub(began)
	if n.roundTrip > 0 {
		took = n.roundTrip + (min(took, 2*n.roundTrip)-n.roundTrip)/4
	}
	n.roundTrip = took
}

// writtenLocked takes down a write of this client, for which it has waited while
// other clients made some writes.
func (n *node) writtenLocked(version, waited int32) {
	if !n.running {
		n.running = true
		n.waits = (n.waits + waited) / 2
	}
	length := int32(runLength)
	if !n.isCrowdedLocked() {
		length *= 2
	}
	if version%length == 0 {
		n.endRunLocked()
	}
}

// endRunLocked ends the run of this client, if it is in one, and drops what is known
// of the node.
func (n *node) endRunLocked() {
	if n.running {
		n.ended, n.endedWith = n.now(), n.seen.version
	}
	n.running, n.seen = false, nil
}

// restLeft returns how long this client rests from now on, and since which version.
func (n *node) restLeft() (left time.Duration, since int32) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.running || !n.isCrowdedLocked() {
		return 0, 0
	}
	rest := time.Duration(n.waits) * n.roundTrip * 9 / 10
	return min(rest, longestWait) - n.now().Sub(n.ended), n.endedWith
}

func (n *node) isRunning() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.running
}

// patience is how a call lets other clients go first.
type patience struct {
	patient bool  // it lets another client end its run
	since   int32 // the version since which it has waited
	beaten  int   // how often another client has written first
	lastly  int32 // the version that this client wanted to replace then
	awaited bool  // it has let a run end since then
}

// rest lets other clients go first after a run.
func (c *call) rest() {
	left, since := c.restLeft()
	if left <= 0 {
		return
	}
	if !c.patient {
		c.patient, c.since = true, since
	}
	c.pause(left)
}

// awaitEnd waits until another client's run ends, if it is in one. It reports
// whether it has waited, which it does once for each write that it tries.
func (c *call) awaitEnd(base *snapshot) bool {
	left := untilEnd(base.version)
	if !c.patient || c.awaited || left == 0 || c.isRunning() {
		return false
	}
	c.awaited = true
	if c.beaten > 0 && base.version == c.lastly+1 {
		return false // the client that was faster has stopped
	}
	c.forget(false)
	c.pauseFor(left - 1) // the read that follows takes a round trip
	return true
}

// giveWay lets the client go first that has replaced base.
func (c *call) giveWay(base *snapshot) {
	if c.beaten++; c.beaten == 1 && !c.patient {
		c.since = base.version
	}
	c.patient = c.patient || c.beaten >= patientAfter
	c.lastly, c.awaited = base.version, false
	switch {
	case !c.patient:
	case untilEnd(base.version) == 0: // a run has begun
		c.pauseFor(runLength - 2)
	default: // clients in step must not stay in step
		c.pause(random.Duration(max(c.trip(), 1)))
	}
}

// waited returns how many writes of other clients precede one that this client has
// made, since it began to wait.
func (c *call) waited(version int32) int32 {
	if !c.patient {
		return 0
	}
	return max(version-1-c.since, 0)
}

// pauseFor waits for as long as another client needs for some writes.
func (c *call) pauseFor(writes time.Duration) { c.pause(writes * c.trip()) }

func (n *node) trip() time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.roundTrip
}

// pause waits. If the caller's context or the client ends, the next request says so.
func (c *call) pause(d time.Duration) {
	if d > 0 {
		_ = follow.Pause(c.ctx, c.client, &pauses.Growing{First: min(d, longestWait)})
	}
}
