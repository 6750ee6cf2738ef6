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

// Locks return these errors, or use them as the cause of a lease's context, together with
// framework.ErrSessionLost, framework.ErrSuspended and framework.ErrClosed. Match them
// with errors.Is. The error for an invalid argument is a *framework.ConfigError and
// matches zk.ErrBadArguments.
var (
	// ErrNotAcquired means that an acquire ended without the lock, because other
	// contenders were ahead or because a semaphore's limit is too low.
	ErrNotAcquired = seat.ErrNotAcquired

	// ErrReleased is the cause of a released lease's context, and the error of a second
	// Release.
	ErrReleased = seat.ErrReleased

	// ErrNodeDeleted means that another client deleted the holder's node. The lock is
	// lost.
	ErrNodeDeleted = seat.ErrNodeDeleted

	// ErrRevoked means that another client asked for the lock of a holder with
	// WithRevocation, or asked a leader to step down.
	ErrRevoked = seat.ErrRevoked

	// ErrUpgrade means that a call asked for the write side of a lock under its read
	// side: the call would wait for itself forever.
	ErrUpgrade = errors.New("read lock cannot be upgraded to write lock")

	// ErrCorrupted means that a node below a lock's path has content that the lock does
	// not write.
	ErrCorrupted = seat.ErrCorrupted
)

// NotAcquiredError says who was ahead when an acquire, or the wait for a leadership,
// ended without success. It matches ErrNotAcquired. If a context has ended, it also
// matches ctx.Err().
//
// It describes the queue at the time Seen, which may be a while ago: a waiter watches
// only the contender right ahead, and receives no changes further ahead. If an acquire
// ends before it has read the queue, the error describes an earlier read: by the same
// acquire before it lost its place, or by another goroutine of this client. For a semaphore, Holder
// is the contender with the oldest lease, or the first contender that waits for a lease.
type NotAcquiredError struct {
	Op         string // the call, such as "acquire"
	Path       string // the lock's path
	Ahead      int    // contenders ahead, the holder included, or their leases; 0 if only the limit is too low
	Holder     string // the node name of the first contender ahead; empty if it was not seen
	HolderData []byte // what that node says about its owner; nil if it was not read

	// Own means that this client itself is the holder. A holder that acquires the lock
	// again without the context of its lease waits for itself. So do other goroutines of
	// this process until the holder releases the lock.
	Own bool

	// Reentrant means that an acquire under the context of the holder's lease would have
	// re-entered the lock.
	Reentrant bool

	// Unowned is Holder if no session owns that node, for example because a tool has
	// created the node or a restored backup contains it. No server deletes such a node by
	// itself: only deleting it frees the lock. Otherwise Unowned is empty.
	Unowned string

	// Leases is how many leases of a semaphore the call asked for, and Limit is the limit
	// that was read. Ahead then counts leases, and the remaining leases up to the limit
	// are free. Both are 0 for other locks, and for an acquire that did not read the
	// leases because it was not its turn.
	Leases, Limit int

	Seen time.Time     // when this client last read the queue; zero if it never did
	Age  time.Duration // the time from Seen until the end of the acquire

	// Err says why the context ended, or is nil. Without a connection, it includes the
	// error of the last connection attempt. Otherwise it includes the last error
	// that an acquire in this process has retried through since the last success. For
	// example, framework.ServerCode finds the code of a server that throttles.
	Err error
}

func notAcquired(n seat.NotAcquired) error {
	e := NotAcquiredError(n)
	return &e
}

// Identity returns the identity of the holder, from its node. It is zero if the node was
// not read.
func (e *NotAcquiredError) Identity() Identity { return ReadIdentity(e.HolderData) }

// HolderID returns a readable name of the holder, as Participant.ID does. It is "unknown"
// if the holder's node was not read, and empty if no holder was seen.
func (e *NotAcquiredError) HolderID() string {
	if e.Holder == "" {
		return ""
	}
	return idOf(e.HolderData)
}

// Error names the lock, the holder and the position in the queue. If that information is
// old, it includes the age.
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

// writeLeases writes nothing for a semaphore that is a mutex, because its users do not
// ask for leases.
func (e *NotAcquiredError) writeLeases(b *strings.Builder) {
	switch {
	case e.Leases > e.Limit:
		fmt.Fprintf(b, "%d of the semaphore's leases, whose limit is %d, ", e.Leases, e.Limit)
	case e.Limit > 1:
		fmt.Fprintf(b, "%d of %d leases wanted, %d free, ", e.Leases, e.Limit, max(0, e.Limit-e.Ahead))
	}
}

// noteLeases adds the number of wanted leases and the limit to the error of an acquire
// that has read the leases.
func noteLeases(err error, n, limit int) error {
	if e, ok := err.(*NotAcquiredError); ok { //nolint:errorlint // not wrapped: notAcquired has just made it
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
