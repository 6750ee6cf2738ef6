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
	beatenAt  time.Time     // when another client was faster last, or zero
	running   bool          // seen is this client's own write
	ended     time.Time     // the end of this client's last run, or zero
	endedWith int32         // the version then
	waits     int32         // writes of others before a run: a mean in which the last run counts half
	roundTrip time.Duration // of a request: a mean in which the last one counts a quarter
}

// patience is how far a call lets other clients go first.
type patience struct {
	beaten  int   // how often another client has written first
	since   int32 // the version then, or the one with which this client began to rest
	awaited bool  // since then, the call has waited for the end of a run
}

const (
	// runLength makes eight clients need 1.5 requests for an Add. Clients wait longer
	// for longer runs. With shorter runs, more writes fail.
	runLength = 8

	// patientAfter is how often a client is beaten before it waits for the end of a
	// run. Clients that write now and then get out of each other's way sooner if they
	// try again at once.
	patientAfter = 3

	// longestWait bounds each pause of a client, and how long it takes other clients
	// to be there after it was beaten.
	longestWait = time.Second
)

// untilEnd returns how many writes are left of the run that a version is in.
func untilEnd(version int32) time.Duration {
	return time.Duration((runLength - version%runLength) % runLength)
}

func (s *share) isCrowded(now time.Time) bool {
	return !s.beatenAt.IsZero() && now.Sub(s.beatenAt) < longestWait
}

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

// noteWritten takes down the node as this client has written it, after it has waited
// for some writes of others.
func (n *node) noteWritten(s *snapshot, waited int32) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.seen = s
	if !n.running {
		n.running, n.waits = true, (n.waits+waited)/2
	}
	if s.version%runLength == 0 && (n.isCrowded(n.now()) || s.version%(2*runLength) == 0) {
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

// rest lets other clients go first after a run.
func (c *call) rest() {
	s, now := c.shared(), c.now()
	rest := min(time.Duration(s.waits)*s.roundTrip*9/10, longestWait) - now.Sub(s.ended)
	if s.running || rest <= 0 || !s.isCrowded(now) {
		return
	}
	if !c.isPatient() {
		c.beaten, c.since = patientAfter, s.endedWith
	}
	c.pause(rest)
}

func (p *patience) isPatient() bool { return p.beaten >= patientAfter }

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
	if c.beaten == 0 {
		c.since = base.version
	}
	c.beaten++
	c.awaited = false
	trip := c.shared().roundTrip
	switch {
	case !c.isPatient():
	case untilEnd(base.version) == 0: // a run has begun
		c.pause((runLength - 2) * trip)
	default:
		c.pause(random.Duration(trip)) // clients in step must not stay in step
	}
}

// waited returns how many writes of other clients this one has waited for.
func (c *call) waited(version int32) int32 {
	if !c.isPatient() {
		return 0
	}
	return max(version-1-c.since, 0)
}

// pause waits. If the caller's context or the client ends, the next request says so.
func (c *call) pause(d time.Duration) {
	_ = follow.Pause(c.ctx, c.client, &pauses.Growing{First: min(d, longestWait)})
}
