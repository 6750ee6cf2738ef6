package locks

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/recipes/internal/seat"
)

// These errors are returned by locks, or are the cause with which a lease's
// context ends, beside framework.ErrSessionLost, framework.ErrSuspended and
// framework.ErrClosed. Match them with errors.Is. A value that cannot be used
// is a *framework.ConfigError and matches zk.ErrBadArguments.
var (
	// ErrNotAcquired is in the error of every acquire that ended without the
	// lock because others were ahead, or because a semaphore's limit is too
	// low.
	ErrNotAcquired = seat.ErrNotAcquired

	// ErrReleased is the cause of a released lease's end, and the error of
	// releasing it again.
	ErrReleased = seat.ErrReleased

	// ErrNodeDeleted means that somebody deleted the holder's node, and with it
	// the claim to the lock.
	ErrNodeDeleted = seat.ErrNodeDeleted

	// ErrRevoked means that somebody asked the holder of a lock that has
	// WithRevocation, or a leader, to give it up.
	ErrRevoked = seat.ErrRevoked

	// ErrUpgrade is the error of asking for the write side of a lock under its
	// read side: the wait would never end.
	ErrUpgrade = errors.New("read lock cannot be upgraded to write lock")

	// ErrCorrupted means that something below a lock's path is not what the
	// lock keeps there.
	ErrCorrupted = seat.ErrCorrupted
)

// NotAcquiredError says who was ahead when an acquire ended without the lock,
// or the wait for a leadership without that. It matches ErrNotAcquired and, if
// that was the reason, ctx.Err().
//
// It tells how things stood at the time Seen, which may be a while ago: a
// waiter watches only the contender right ahead, and does not hear of what
// happens before that. An acquire that ends before it has seen the queue tells
// what it saw before it lost its place, or what other goroutines of its client
// have seen. At a semaphore, the holder is the contender that has the oldest of
// the leases, or is ahead in waiting for one.
type NotAcquiredError struct {
	Op         string // the call, such as "acquire"
	Path       string // the lock's path
	Ahead      int    // contenders before us in the queue, the holder among them, or the leases of others; 0 if only the limit is too low
	Holder     string // the node name of the first of them; empty if it was not seen
	HolderData []byte // what that node says of its owner; nil if it was not read

	// Own says that the holder is this very client. A holder that acquires the
	// lock again without the context of its lease waits for itself, and so do
	// others in this process until it releases the lock.
	Own bool

	// Reentrant says that an acquire under the context of the holder's lease
	// would have re-entered.
	Reentrant bool

	// Unowned is Holder if no session owns that node, such as one that a tool has made or
	// that a restored backup has brought back. No server deletes it by itself: only
	// deleting it frees the lock. Otherwise it is empty.
	Unowned string

	// Leases is how many leases of a semaphore were asked for, and Limit is the
	// limit that was read. Ahead counts leases then, and the rest up to the
	// limit is free. Both are 0 for an acquire that did not look at the leases,
	// because it was not its turn, and for other locks.
	Leases, Limit int

	Seen time.Time     // the time of this client's last look at the queue; zero if it has not looked
	Age  time.Duration // how long that was before the acquire ended

	// Err is the context's end, or nil. The context's end comes
	// with the last attempt to connect if there is no connection, or else with
	// the last error that this acquire, or one before it in this process, has
	// outlasted since all was well: framework.ServerCode finds a server that
	// throttles.
	Err error
}

func notAcquired(n seat.NotAcquired) error {
	e := NotAcquiredError(n)
	return &e
}

// Identity returns what the holder's node says of its owner. It is zero if the
// node was not read.
func (e *NotAcquiredError) Identity() Identity { return ReadIdentity(e.HolderData) }

// HolderID returns the name by which people know the holder, as Participant.ID
// does. It is "unknown" if nothing of its node was read, and empty if no holder
// was seen.
func (e *NotAcquiredError) HolderID() string {
	if e.Holder == "" {
		return ""
	}
	return idOf(e.HolderData)
}

// Error names the lock, the holder and our position, and says how old that is
// if it is not from now.
func (e *NotAcquiredError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: %v: ", cmp.Or(e.Op, "acquire"), printable.String(e.Path), ErrNotAcquired)
	e.writeLeases(&b)
	fmt.Fprintf(&b, "%d ahead", e.Ahead)
	e.writeHolder(&b)
	if e.Age > time.Second {
		fmt.Fprintf(&b, ", seen %v before", e.Age.Round(time.Second))
	}
	if e.Own && e.Reentrant {
		b.WriteString(" (an acquire under the context of its lease would re-enter)")
	}
	if e.Unowned != "" {
		fmt.Fprintf(&b, "; no session owns node %s: only deleting it frees the lock", printable.String(e.Unowned))
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	return b.String()
}

// writeLeases says nothing of a semaphore that is a mutex: nobody has asked for
// leases there.
func (e *NotAcquiredError) writeLeases(b *strings.Builder) {
	switch {
	case e.Leases > e.Limit:
		fmt.Fprintf(b, "%d of the semaphore's leases, whose limit is %d, ", e.Leases, e.Limit)
	case e.Limit > 1:
		fmt.Fprintf(b, "%d of %d leases wanted, %d free, ", e.Leases, e.Limit, max(0, e.Limit-e.Ahead))
	}
}

// noteLeases adds to the error of an acquire that has seen the leases how many
// it wanted, and their limit.
func noteLeases(err error, n, limit int) error {
	if e, ok := err.(*NotAcquiredError); ok { //nolint:errorlint // the queue's own, as notAcquired has made it
		e.Leases, e.Limit = n, limit
	}
	return err
}

func (e *NotAcquiredError) writeHolder(b *strings.Builder) {
	if e.Holder == "" {
		return
	}
	b.WriteString(", held by ")
	if e.Own {
		b.WriteString("this client itself, ")
	}
	switch id := e.Identity(); {
	case id.Foreign != "":
		fmt.Fprintf(b, "%q, node ", id.Foreign)
	case !id.IsZero():
		fmt.Fprintf(b, "%v, node ", id)
	}
	b.WriteString(printable.String(e.Holder))
	if until := e.Identity().KeptUntil; !until.IsZero() {
		fmt.Fprintf(b, ", released, and kept until %s", until.Format(time.RFC3339))
	}
}

// Unwrap returns ErrNotAcquired and, if it is not nil, Err.
func (e *NotAcquiredError) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrNotAcquired}
	}
	return []error{ErrNotAcquired, e.Err}
}
