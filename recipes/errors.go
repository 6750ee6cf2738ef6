package recipes

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/recipes/internal/lockloop"
)

// These errors are returned by recipes, or are the cause with which a lease's context ends, beside
// framework.ErrSessionLost, framework.ErrSuspended and framework.ErrClosed. Match them with errors.Is.
var (
	// ErrNotAcquired is in the error of every acquire that ended without the lock because others were ahead, or because a
	// semaphore's limit is too low for it.
	ErrNotAcquired = errors.New("not acquired")

	// ErrReleased is the cause of a released lease's end, and the error of releasing it again.
	ErrReleased = errors.New("lease released")

	// ErrNodeDeleted means that somebody deleted the holder's node, and with it the claim to the lock.
	ErrNodeDeleted = errors.New("lock node deleted by someone else")

	// ErrRevoked means that somebody asked the holder of a Revocable lock, or a leader, to give it up.
	ErrRevoked = errors.New("lock revoked")

	// ErrUpgrade is the error of asking for the write side of a lock under its read side: the wait would never end.
	ErrUpgrade = errors.New("read lock cannot be upgraded to write lock")

	// ErrCorrupted means that something below a recipe's path is not what the
	// recipe keeps there.
	ErrCorrupted = lockloop.ErrCorrupted

	// ErrClosed is the error of a LeaderLatch that was closed.
	ErrClosed = errors.New("leader latch closed")

	// ErrStarted is the error of starting a LeaderLatch again.
	ErrStarted = errors.New("leader latch was started before")

	// ErrNotStarted is the error of waiting for the leadership of a LeaderLatch that was never started.
	ErrNotStarted = errors.New("leader latch was not started")

	// ErrRunning is the error of LeaderSelector.Run and of LeaderLatch.Lead while it runs already, and of Run under the
	// leadership that it asks for.
	ErrRunning = errors.New("running already")

	// ErrNotLeader is the error of giving up a leadership that one does not have.
	ErrNotLeader = errors.New("not the leader")

	// ErrNoLeader means that nobody leads, and nobody is about to.
	ErrNoLeader = errors.New("no leader")

	// ErrNoSuccessor means that nobody else stands for leader, to hand over to.
	ErrNoSuccessor = errors.New("no successor")

	// ErrQueueFull means that there were as many ahead as WithQueueLimit allows.
	ErrQueueFull = errors.New("queue is full")
)

// NotAcquiredError says who was ahead when an acquire ended without the lock. It matches ErrNotAcquired and, if that was
// the reason, ErrQueueFull or ctx.Err().
//
// At a semaphore, who is named as the holder has the oldest of the leases, or is ahead in waiting for one.
//
// It tells how things stood at the time Seen, which may be a while ago: who waits watches only the one right ahead, and is
// not told of what happens before that.
type NotAcquiredError struct {
	Path     string   // of the lock
	Ahead    int      // contenders that were before us in the queue, the holder among them; 0 if only the limit is too low
	Holder   string   // the node name of the first of them; empty if it was not seen
	Identity Identity // what the holder's node says of its owner; zero if it was not read
	Err      error    // ErrQueueFull, or the context's end, with the last attempt to connect if there is no connection; or nil

	// Seen is when this client has last looked at the queue; zero if it has not.
	Seen time.Time

	// Own says that the holder is this very client: whoever holds the lock waits for himself if he acquires it again
	// without the context of his lease, and so do others in this process until he releases it.
	Own bool

	// At a semaphore whose limit was too low: how many leases were asked for, and the limit that was read. Elsewhere
	// both are 0.
	Leases, Limit int

	op       string        // "acquire" if it is empty
	age      time.Duration // of what was seen, when the acquire ended
	reenters bool          // the lock is one that can be re-entered
}

// Error names the lock, the holder and our position, and says how old that is if it is not from now.
func (e *NotAcquiredError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: %v: ", cmp.Or(e.op, "acquire"), printable.String(e.Path), ErrNotAcquired)
	if e.Leases > e.Limit {
		fmt.Fprintf(&b, "%d of the semaphore's leases, whose limit is %d, ", e.Leases, e.Limit)
	}
	fmt.Fprintf(&b, "%d ahead", e.Ahead)
	e.writeHolder(&b)
	if e.age > time.Second {
		fmt.Fprintf(&b, ", seen %v before", e.age.Round(time.Second))
	}
	if e.Own && e.reenters {
		b.WriteString(" (an acquire under the context of its lease would re-enter)")
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	return b.String()
}

func (e *NotAcquiredError) writeHolder(b *strings.Builder) {
	if e.Holder == "" {
		return
	}
	b.WriteString(", held by ")
	if e.Own {
		b.WriteString("this client itself, ")
	}
	switch {
	case e.Identity.Foreign != "":
		fmt.Fprintf(b, "%q, node ", e.Identity.Foreign)
	case !e.Identity.IsZero():
		fmt.Fprintf(b, "%v, node ", e.Identity)
	}
	b.WriteString(printable.String(e.Holder))
}

// Unwrap returns ErrNotAcquired and, if it is not nil, Err.
func (e *NotAcquiredError) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrNotAcquired}
	}
	return []error{ErrNotAcquired, e.Err}
}
