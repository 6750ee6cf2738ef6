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
//   - A client writes in runs. In a run, the client remembers its last write, so each
//     write is one request. A run ends where the version is a multiple of runLength.
//   - After its run, a client rests for nearly as many writes as other clients made
//     while it waited for that run. So a client that has waited for long has few
//     contenders, and the first one that comes gets the next run.
//   - A client that was beaten several times knows from the version how many writes
//     are left of another client's run, and that a write takes about one round trip.
//     It tries again when that run ends.
//
// While no other client is faster, a client makes runs of twice the length, and does
// not rest. The read between two of its runs is the chance of the other clients.
type share struct {
	seen      *snapshot     // the node as it was when it was last read or written, or nil
	running   bool          // seen is this client's own write
	last      *snapshot     // the last write of this client's last run; of year 1 if there was none
	beatenAt  time.Time     // when another client was faster last, or zero
	waits     int32         // writes of others before a run: a mean in which the last run counts a quarter
	roundTrip time.Duration // of a request: a mean in which the last one counts a quarter
}

const (
	// runLength is a power of two. With 8, eight clients need 1.5 requests for an Add.
	// Clients wait longer for longer runs. With shorter runs, more writes fail.
	runLength = 8

	// patientAfter is how often a client is beaten before it waits for the end of a
	// run. Clients that write now and then get out of each other's way sooner if they
	// try again at once.
	patientAfter = 3
)

// untilEnd returns how many writes are left of the run that a version is in.
func untilEnd(version int32) time.Duration { return time.Duration(-version & (runLength - 1)) }

func (s *share) isCrowded(now time.Time) bool { return now.Sub(s.beatenAt) < remembered }

func (n *node) shared() share {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.share
}

// noteRoundTrip takes down how long a request took. A request that was held up counts
// as twice the mean.
func (n *node) noteRoundTrip(began time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.roundTrip += (min(n.now().Sub(began), 2*n.roundTrip) - n.roundTrip) / 4
}

// noteWritten takes down the node as a call has written it.
func (n *node) noteWritten(s *snapshot, by *call) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.seen = s
	if !n.running && by.isPatient() {
		n.waits += (s.version - by.since - n.waits) / 4
	}
	n.running = true
	if s.version%runLength == 0 && (n.isCrowded(n.now()) || s.version%(2*runLength) == 0) {
		n.endRunLocked()
	}
}

// endRunLocked ends the run of this client, if it is in one, and drops what is known
// of the node.
func (n *node) endRunLocked() {
	if n.running {
		n.last = n.seen
	}
	n.running, n.seen = false, nil
}

// rest lets other clients go first after a run.
func (c *call) rest() {
	s, now := c.shared(), c.now()
	rest := min(time.Duration(s.waits)*s.roundTrip*9/10, remembered) - now.Sub(s.last.at)
	if !s.running && s.isCrowded(now) && rest > 0 {
		c.beaten, c.since = max(c.beaten, patientAfter), s.last.version
		c.pause(rest)
	}
}

func (c *call) isPatient() bool { return c.beaten >= patientAfter }

// awaitEnd waits until another client's run ends, if the node is in one. It reports
// whether it has waited, which it does once before each write.
func (c *call) awaitEnd(base *snapshot) bool {
	s, left := c.shared(), untilEnd(base.version)
	if s.running || left == 0 || c.awaited || !c.isPatient() {
		return false
	}
	c.awaited = true
	c.forget(false)
	c.pause((left - 1) * s.roundTrip) // the read that follows takes one, too
	return true
}

// giveWay lets the client go first that has replaced base.
func (c *call) giveWay(base *snapshot) {
	if c.beaten++; c.beaten == 1 {
		c.since = base.version
	}
	c.awaited = false
	if trip := c.shared().roundTrip; c.isPatient() && untilEnd(base.version) == 0 {
		c.pause((runLength - 2) * trip) // a run has begun
	} else if c.isPatient() {
		c.pause(random.Duration(trip)) // clients in step must not stay in step
	}
}

// pause waits. If the caller's context or the client ends, the next request says so.
func (c *call) pause(d time.Duration) {
	_ = follow.Pause(c.ctx, c.client, &pauses.Growing{First: min(d, remembered)})
}
