package recipes

import (
	"errors"
	"fmt"
	"strings"
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

	// ErrCorrupted means that a node's data is not what the recipe keeps there.
	ErrCorrupted = errors.New("corrupted data")

	// ErrClosed is the error of a LeaderLatch that was closed.
	ErrClosed = errors.New("leader latch closed")

	// ErrStarted is the error of starting a LeaderLatch again.
	ErrStarted = errors.New("leader latch was started before")

	// ErrNotStarted is the error of waiting for the leadership of a LeaderLatch that was never started.
	ErrNotStarted = errors.New("leader latch was not started")

	// ErrRunning is the error of LeaderSelector.Run while it runs already, or under the leadership that it asks for.
	ErrRunning = errors.New("leader selector is running")

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
type NotAcquiredError struct {
	Path     string   // of the lock
	Ahead    int      // contenders that were before us in the queue, the holder among them; 0 if only the limit is too low
	Holder   string   // the node name of the first of them; empty if it was not seen
	Identity Identity // what the holder's node says of its owner; zero if it was not read
	Err      error    // ErrQueueFull, or the context's end; nil if the acquire was not to wait
}

// Error names the lock, the holder and our position.
func (e *NotAcquiredError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "acquire %s: %v: %d ahead", e.Path, ErrNotAcquired, e.Ahead)
	if e.Holder != "" {
		b.WriteString(", held by ")
		switch {
		case e.Identity.Foreign != "":
			fmt.Fprintf(&b, "%q, node ", e.Identity.Foreign)
		case !e.Identity.IsZero():
			fmt.Fprintf(&b, "%v, node ", e.Identity)
		}
		b.WriteString(e.Holder)
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	return b.String()
}

// Unwrap returns ErrNotAcquired and, if it is not nil, Err.
func (e *NotAcquiredError) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrNotAcquired}
	}
	return []error{ErrNotAcquired, e.Err}
}
