package flight

import "sync"

// Recorder is the flight recorder of one client. The nil Recorder records
// nothing. It is safe for concurrent use.
type Recorder struct {
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

// New returns a recorder that keeps so many rare events, and as many frequent
// ones. It returns nil for none.
func New(events int) *Recorder {
	if events <= 0 {
		return nil
	}
	r := &Recorder{rare: ring{size: events}, frequent: ring{size: events}}
	r.followers = newFollowers(r)
	r.records.next, r.records.prev = &r.records, &r.records
	r.losses.next, r.losses.prev = &r.losses, &r.losses
	return r
}
