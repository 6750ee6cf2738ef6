package flight

import (
	"sync"
	"time"
)

// kept is how many rare events, and how many frequent ones, a recorder keeps.
// Together they take about 100 kilobytes. If most acquires end without the lock,
// they take 200: the event of such an acquire keeps its error, with the data of the
// holder's node. Other clients decide how long that is, up to 4 kilobytes.
const kept = 256

// Recorder is the flight recorder of one client. The nil Recorder records
// nothing. It is safe for concurrent use.
type Recorder struct {
	since     time.Time
	followers Followers

	mu       sync.Mutex // protects the following fields, and fields of every Record and Sources
	events   uint64     // how many there were: the number of the newest one
	rare     ring
	frequent ring
	records  Record // the head of a list in a circle
	losses   Record // the head of another list: lost holds that are not released, the oldest first
	linked   int    // how many are in both lists
	lost     int    // how many are in the second one
}

// New returns a recorder that records from now on.
func New() *Recorder {
	r := &Recorder{since: time.Now(), rare: ring{size: kept}, frequent: ring{size: kept}}
	r.followers = newFollowers(r)
	r.records.next, r.records.prev = &r.records, &r.records
	r.losses.next, r.losses.prev = &r.losses, &r.losses
	return r
}

// Since returns when the recorder was made.
func (r *Recorder) Since() time.Time { return r.since }
