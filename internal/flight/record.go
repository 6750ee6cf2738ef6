package flight

import (
	"time"
)

// Record is what is known of one acquire, and of the hold that follows it. It
// belongs to the one who began it, who may embed it in what an acquire
// allocates anyway. The nil Record and the zero Record record nothing.
type Record struct {
	of    *Recorder // nil for a record that was not begun
	what  What
	since time.Time

	// These are protected by of.mu.
	prev, next *Record // nil while the record is in no list
	stage      Stage
	revoked    bool
	node       string
	token      int64
	granted    time.Time
	ahead      int
	others     *others // nil if there is nothing to know
	locally    func() Standing
	lost       error // why the hold was lost, or nil

	// The hold ended when the release began: the next holder may be there
	// before the release is done.
	releasing time.Time // when the release began
	released  uint64    // the number of its event
}

// What describes the lock that is acquired. It does not change.
type What struct {
	Path   string // the path at the server, with the chroot
	Recipe string
	Name   string
	Shared bool
	Leases int
}

// Stage is how far an acquire, or a hold, has come.
type Stage uint8

// The stages. An acquire has the first four, and a hold the others.
const (
	Starting  Stage = iota
	InProcess       // it waits for other goroutines of its client
	Queued          // it has a node
	Blocked         // it waits for other contenders at the server
	Held
	Lost      // nobody has released it yet
	Releasing // its nodes are being deleted
)

// String returns the stage's name.
func (s Stage) String() string {
	names := [...]string{"starting", "in process", "queued", "waiting", "held", "lost", "releasing"}
	return names[min(int(s), len(names)-1)]
}

// Contender is another contender, as far as its node was read.
type Contender struct {
	Node  string // the base name; empty if there is none, or it is not known
	Data  []byte // read-only
	Since time.Time
}

// others are the contenders that an acquire waits for, and when it has seen them.
// They are not in the Record, because most acquires do not wait.
type others struct {
	seen              time.Time
	neighbour, holder Contender
}

// Standing is the place of an acquire in the queue, as of some moment.
type Standing struct {
	Ahead  int
	Seen   time.Time
	Holder Contender
}

// Begin begins the record of an acquire that has begun at a time. For the nil
// Recorder, it does nothing.
func (r *Recorder) Begin(a *Record, what What, since time.Time) {
	if r == nil {
		return
	}
	a.of, a.what, a.since = r, what, since
	r.mu.Lock()
	defer r.mu.Unlock()
	r.linkLocked(&r.records, a)
}

// linkLocked adds a record to the end of a list.
func (r *Recorder) linkLocked(list, a *Record) {
	r.linked++
	last := list.prev
	a.prev, a.next = last, list
	last.next, list.prev = a, a
}

func (a *Record) unlinkLocked() {
	if a.next == nil {
		return
	}
	a.prev.next, a.next.prev = a.next, a.prev
	a.prev, a.next = nil, nil
	a.of.linked--
	if a.lost != nil {
		a.of.lost--
	}
}

// update makes a change of the record, unless it records nothing.
func (a *Record) update(change func()) {
	if a == nil || a.of == nil {
		return
	}
	a.of.mu.Lock()
	defer a.of.mu.Unlock()
	change()
}

// QueuedLocally notes that the acquire waits in the process. The argument where
// is called by readers, without a lock.
func (a *Record) QueuedLocally(where func() Standing) {
	a.update(func() { a.stage, a.locally = InProcess, where })
}

// Queued notes that the acquire has a node, whose base name is given.
func (a *Record) Queued(node string, ahead int) {
	a.update(func() { a.stage, a.node, a.ahead, a.locally, a.others = Queued, node, ahead, nil, nil })
}

// Blocked notes that the acquire waits for others, when it has seen them, and what
// it knows of them.
func (a *Record) Blocked(ahead int, seen time.Time, neighbour, holder Contender) {
	a.update(func() {
		now := time.Now()
		a.stage, a.ahead = Blocked, ahead
		if a.others == nil {
			a.others = &others{}
		}
		*a.others = others{seen, neighbour, holder}
		e := a.event(Waiting, now)
		e.Node, e.Other, e.Count = a.node, holder.Node, ahead
		a.of.addLocked(e)
	})
}

// Abandoned notes that the acquire has given its node up, and begins anew or
// ends.
func (a *Record) Abandoned() {
	a.update(func() { a.stage, a.node, a.ahead, a.others = Starting, "", 0, nil })
}

// Ended notes how the acquire ended: with an event of one of the kinds
// Acquired, NotAcquired and AcquireFailed. The outcome is for people. A hold
// may follow; see Hold.
func (a *Record) Ended(kind Kind, outcome string, err error) {
	a.update(func() {
		now := time.Now()
		a.unlinkLocked()
		a.granted, a.locally = now, nil
		if kind == Acquired {
			return // Hold tells of it, and knows more
		}
		e := a.event(kind, now)
		e.Other, e.Took, e.Err = outcome, now.Sub(a.since), err
		a.of.addLocked(e)
	})
}

// Hold notes that the lock is held, by the node with this base name.
func (a *Record) Hold(node string, token int64) {
	a.update(func() {
		a.stage, a.node, a.token, a.others, a.released = Held, node, token, nil, 0
		a.of.linkLocked(&a.of.records, a)
		e := a.event(Acquired, a.granted)
		e.Node, e.Took = node, a.granted.Sub(a.since)
		a.of.addLocked(e)
	})
}

// Revoked notes that somebody has asked for the lock.
func (a *Record) Revoked() {
	a.update(func() {
		a.revoked = true
		a.happenedLocked(HoldRevoked, nil)
	})
}

// Lost notes that the lock is lost. Until Gone it counts as not released. The
// recorder keeps the newest holds that are in this state, in case the program
// never releases them.
func (a *Record) Lost(err error) {
	a.update(func() {
		a.stage = Lost
		if a.next != nil {
			a.unlinkLocked()
			a.lost = err
			a.of.linkLostLocked(a)
		}
		a.happenedLocked(HoldLost, err)
	})
}

// mostLost is how many holds that are lost and not released are kept.
const mostLost = 1000

func (r *Recorder) linkLostLocked(a *Record) {
	if r.lost++; r.lost > mostLost {
		r.losses.next.unlinkLocked()
	}
	r.linkLocked(&r.losses, a)
}

// Released notes that the release is done, or was left to the client. The event
// is as of Releasing.
func (a *Record) Released(err error) { a.update(func() { a.happenedLocked(Released, err) }) }

func (a *Record) happenedLocked(kind Kind, err error) {
	var e Event
	if kind == Released && a.released != 0 {
		e = a.event(kind, a.releasing)
		e.seq = a.released
	} else {
		e = a.event(kind, time.Now())
	}
	e.Node, e.Took, e.Err = a.node, e.Time.Sub(a.granted), err
	a.of.addLocked(e)
}

// Releasing notes that the nodes are about to be deleted.
func (a *Record) Releasing() {
	a.update(func() { a.stage, a.releasing, a.released = Releasing, time.Now(), a.of.nextLocked() })
}

// Gone ends the record of a hold.
func (a *Record) Gone() {
	a.update(a.unlinkLocked)
}

func (a *Record) event(kind Kind, at time.Time) Event {
	return Event{Time: at, Kind: kind, Path: a.what.Path, Recipe: a.what.Recipe, Name: a.what.Name}
}
