package seat

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/locktrace"
)

// A hold's context ends with one of these causes, or with framework.ErrSessionLost,
// framework.ErrSuspended or framework.ErrClosed.
var (
	ErrReleased    = errors.New("lease released")
	ErrNodeDeleted = errors.New("lock node deleted by someone else")
	ErrRevoked     = errors.New("lock revoked")
)

// ErrCorrupted means that a node below a lock's path was created neither by a server nor
// by a contender.
var ErrCorrupted = errors.New("corrupted data")

// ErrNotAcquired is the error that package locks exports.
var ErrNotAcquired = errors.New("not acquired")

// NotAcquired has the fields of locks.NotAcquiredError, which documents them.
type NotAcquired struct {
	Op         string
	Path       string
	Ahead      int
	Holder     string
	HolderData []byte
	Own        bool
	Reentrant  bool
	Unowned    string
	Leases     int
	Limit      int
	Seen       time.Time
	Age        time.Duration
	Err        error
}

// NotAdmitted says why a contender was not admitted, and what it last saw of the queue.
type NotAdmitted struct {
	Seen   time.Time // when the contender last read the queue; zero if it never did
	Ahead  int       // the number of contenders before it
	Holder string    // the node name of the first contender; empty if there is none

	// The following fields describe the holder, if its node was read.
	HolderData    []byte // the node's data, at most MaxData bytes
	HolderSession int64  // the id of the session that owns the node
	HolderSince   time.Time

	Err error
}

// recallHolder adds known data of the holder, if the contender has not read the node and
// the holder is the same.
func (r *NotAdmitted) recallHolder(known NotAdmitted) {
	if r.Holder == known.Holder && !r.hasRead() {
		r.HolderData, r.HolderSession, r.HolderSince = known.HolderData, known.HolderSession, known.HolderSince
	}
}

// hasRead reports whether the holder's node was read.
func (r *NotAdmitted) hasRead() bool { return r.HolderSession != 0 || !r.HolderSince.IsZero() }

// ErrorOf returns the error for the caller of an attempt that has failed with err. If ctx
// has ended, that is the reason, even if another error came first. The error then also
// names last, the last error after which the attempt has retried, unless it is nil.
func ErrorOf(ctx context.Context, err, last error) error {
	err = Settled(err)
	switch {
	case reason.Is(err, errHeld) && ctx.Err() == nil:
		return nil
	case ctx.Err() != nil && !reason.IsOfContext(ctx, err):
		err = fmt.Errorf("%w: %w", reason.OfContext(ctx), err)
	}
	if last == nil || !reason.IsOfContext(ctx, err) || reason.Is(err, last) {
		return err
	}
	return fmt.Errorf("%w (last error: %w)", err, Settled(last))
}

// Settled removes framework.ErrOutcomeUnknown from the error of a failed attempt, because
// the outcome is known: even if the request has created a node, the caller does not hold
// the lock, no other goroutine can use the node, and the client deletes it.
func Settled(err error) error {
	if op, ok := err.(*framework.OpError); ok { //nolint:errorlint // only the outermost error; the wrapped one is next
		return &framework.OpError{Op: op.Op, Path: op.Path, Err: Settled(op.Err)}
	}
	return reason.Without(err, framework.ErrOutcomeUnknown)
}

func kindOf(cause error) locktrace.EndCause {
	switch {
	case reason.Is(cause, framework.ErrClosed):
		return locktrace.EndClientClosed
	case reason.Is(cause, framework.ErrSessionLost):
		return locktrace.EndSessionLost
	case reason.Is(cause, framework.ErrSuspended):
		return locktrace.EndSuspended
	case reason.Is(cause, ErrNodeDeleted):
		return locktrace.EndNodeDeleted
	case reason.Is(cause, ErrRevoked):
		return locktrace.EndRevoked
	default:
		return locktrace.EndOther
	}
}

// EndOf describes the end of an acquire for a tracer. The hold is nil after a failure, or
// if there are several holds.
func EndOf(h *Hold, err error) locktrace.AcquireEnd {
	end := locktrace.AcquireEnd{Outcome: outcomeOf(err), Err: err}
	if h != nil {
		end.Token, end.HandedOver, end.Downgraded = h.seat.token, h.handedOver, h.downgraded
	}
	return end
}

func outcomeOf(err error) locktrace.Outcome {
	switch {
	case err == nil:
		return locktrace.Acquired
	case reason.Is(err, context.DeadlineExceeded):
		return locktrace.TimedOut
	case reason.Is(err, context.Canceled):
		return locktrace.Canceled
	case reason.Is(err, ErrNotAcquired):
		return locktrace.NotAcquired
	default:
		return locktrace.Failed
	}
}

// EndsAcquire is the Ends of an acquire's follow.Recovery: the acquire retries through
// outages and lost sessions. The caller receives all other errors.
func EndsAcquire(err error) bool { return !framework.IsConnectionError(err) }

// Invalid returns the error of an invalid value. It matches zk.ErrBadArguments.
func Invalid(name, value, reason string) error {
	return &framework.ConfigError{Name: name, Value: value, Reason: reason}
}

// IsNil returns the error of an argument that must not be nil.
func IsNil(name string) error { return Invalid(name, "nil", "must not be nil") }
