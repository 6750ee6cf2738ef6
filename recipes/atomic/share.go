package atomic

import (
	"time"

	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/random"
	"github.com/gocurator/curator/recipes/internal/follow"
)

// share lets clients that write one node continuously take turns. The node's version
// tells the clients when a turn ends, so turns need no requests:
//
//   - A client writes in runs. In a run, the client remembers its last write, so each
//     write is one request. A run ends where the version is a multiple of runLength.
//   - While a client waits for its run, other clients make a number of writes. After
//     the run, the client rests for the time of nearly as many writes. So few clients
//     contend for the next run, and these have waited longest. A random part of the
//     rest keeps clients from resting at the same time, again and again.
//   - A client that was beaten several times derives from the version how many writes
//     are left of another client's run. A write takes about one round trip. The client
//     tries again when that run ends.
//
// While no other client is faster, a client makes runs of twice the length, and does not
// rest. Another client gets its chance while this client reads between two runs.
type share struct {
	seen      *snapshot     // the node when it was last read or written, or nil
	running   bool          // seen is a write of this client
	last      *snapshot     // the last write of this client's last run, with a zero time if there was none
	beatenAt  time.Time     // when another client was last faster, or zero
	waits     float64       // other clients' writes before a run: a mean in which the last run counts a quarter
	roundTrip time.Duration // of a request: a mean in which the last request counts a quarter
}

const (
	// runLength is a power of two. With 8, eight clients need 1.5 requests for an Add.
	// With longer runs, clients wait longer. With shorter runs, more writes fail.
	runLength = 8

	// patientAfter is how often a call is beaten before it waits for the end of a run.
	// Clients that write now and then get out of each other's way sooner if they try
	// again at once.
	patientAfter = 3
)

// untilEnd returns how many writes are left of the run that a version is in.
func untilEnd(version int32) time.Duration { return time.Duration(-version & (runLength - 1)) }

// isCrowded reports whether other clients write, too.
func (s *share) isCrowded(now time.Time) bool { return now.Sub(s.beatenAt) < remembered }

func (n *node) shared() share {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.share
}

// noteRoundTrip records how long a request took. A delayed request counts as little more
// than the mean, because the requests of other clients are not as slow.
func (n *node) noteRoundTrip(began time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.roundTrip += (min(max(n.now().Sub(began), time.Microsecond), n.roundTrip*5/4) - n.roundTrip) / 4
}

// noteWritten remembers a write of a call, and ends the run with its last write.
func (n *node) noteWritten(s *snapshot, by *call) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.seen = s
	if !n.running && by.isPatient() {
		n.waits += (float64(s.version-1-by.since) - n.waits) / 4
	}
	n.running = true
	if s.version%runLength == 0 && (n.isCrowded(n.now()) || s.version%(2*runLength) == 0) {
		n.endRunLocked()
	}
}

// endRunLocked ends this client's run, if any, and forgets the last known state.
func (n *node) endRunLocked() {
	if n.running {
		n.last = n.seen
	}
	n.running, n.seen = false, nil
}

// rest lets other clients go first after a run. A call that has rested is patient.
func (c *call) rest() {
	s, now := c.shared(), c.now()
	most := min(time.Duration(s.waits*float64(s.roundTrip)), remembered)
	rest := most - random.Duration(most/5+1) - now.Sub(s.last.at)
	if !s.running && s.isCrowded(now) && rest > 0 && !c.isPatient() {
		c.beaten, c.since = patientAfter, s.last.version
		c.pause(rest)
	}
}

func (c *call) isPatient() bool { return c.beaten >= patientAfter }

// awaitEnd waits until another client's run ends, once before each write of a patient call.
// It reports whether it has waited; base is then out of date.
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

// giveWay pauses a patient call after another client has replaced base.
func (c *call) giveWay(base *snapshot) {
	if c.beaten++; c.beaten == 1 {
		c.since = base.version
	}
	c.awaited = false
	if trip := c.shared().roundTrip; c.isPatient() && untilEnd(base.version) == 0 {
		c.pause((runLength - 2) * trip) // the other client's run has just begun
	} else if c.isPatient() {
		c.pause(random.Duration(trip)) // so that clients do not stay in step
	}
}

// pause waits. If the caller's context or the client ends, the next request returns the
// error.
func (c *call) pause(d time.Duration) {
	_ = follow.Pause(c.ctx, c.client, &pauses.Growing{First: min(d, remembered)})
}
