package flight

import (
	"cmp"
	"slices"
	"time"
)

// Kind is the kind of an event.
type Kind uint8

// The kinds of events. The frequent ones, at the end, share a ring.
const (
	None Kind = iota // no event
	ClientClosed
	StateChanged
	HoldLost
	HoldRevoked
	NodeChanged
	CacheFilled
	CacheInterrupted
	CacheEnded
	InstanceChanged   // the instance of a registration drains, or does not any more
	DirectoryTroubled // by a node that is no instance, or because too many have vanished

	Waiting // for another contender, for the first time or in a new place
	Acquired
	NotAcquired
	AcquireFailed // neither the queue nor the context explains the error
	Released
	DirectoryChanged
	InstanceEjected // a picker has taken it out
	NodeOverwritten // somebody else does it, perhaps again and again
)

func (k Kind) isFrequent() bool { return k >= Waiting }

// Event is something that has happened. Which fields are set depends on the
// kind.
type Event struct {
	Time time.Time
	Kind Kind
	seq  uint64 // counts all events: clocks do not tell them all apart

	Path   string // of the lock, the node, the cache or the directory, with the chroot
	Recipe string
	Name   string // the user's name for the lock; else the name of the state, or of the outcome
	Node   string // the base name of the own node
	Other  string // the base name of the node that is waited for; else the server's address

	Took  time.Duration // the acquire, or the hold
	Count int           // how many are ahead
	Err   error
}

// ring keeps the last events. It grows up to its size, and does not grow any
// more then.
type ring struct {
	size int
	next int // the index for the next event, once the ring has its size
	all  []Event
}

func (r *ring) add(e Event) {
	if len(r.all) < r.size {
		r.all = append(r.all, e)
		return
	}
	r.all[r.next] = e
	r.next++
	if r.next == r.size {
		r.next = 0
	}
}

// addLocked adds an event.
func (r *Recorder) addLocked(e Event) {
	if e.seq == 0 {
		e.seq = r.nextLocked()
	}
	if e.Kind.isFrequent() {
		r.frequent.add(e)
	} else {
		r.rare.add(e)
	}
	if e.Kind == ClientClosed { // its events say enough
		r.followers.forgetEndsLocked()
	}
}

// nextLocked returns the number of an event.
func (r *Recorder) nextLocked() uint64 {
	r.events++
	return r.events
}

// Add adds an event that happens now. For the nil Recorder, it does nothing.
func (r *Recorder) Add(e Event) {
	if r == nil {
		return
	}
	e.Time = time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.addLocked(e)
}

// Events returns the events that are kept, in the order in which they have
// happened.
func (r *Recorder) Events() []Event {
	r.mu.Lock()
	all := slices.Concat(r.rare.all[r.rare.next:], r.rare.all[:r.rare.next],
		r.frequent.all[r.frequent.next:], r.frequent.all[:r.frequent.next])
	r.mu.Unlock()
	slices.SortFunc(all, func(a, b Event) int { return cmp.Compare(a.seq, b.seq) })
	return all
}
