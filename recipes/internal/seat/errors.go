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

// A hold's context ends with one of these causes, or with one of the
// framework's: ErrSessionLost, ErrSuspended and ErrClosed.
var (
	ErrReleased    = errors.New("lease released")
	ErrNodeDeleted = errors.New("lock node deleted by someone else")
	ErrRevoked     = errors.New("lock revoked")
)

// ErrCorrupted means that something below a lock's path was not put there by a
// server or a contender.
var ErrCorrupted = errors.New("corrupted data")

// ErrNotAcquired is the error that package locks exports.
var ErrNotAcquired = errors.New("not acquired")

// NotAcquired has the fields of locks.NotAcquiredError. They are documented
// there.
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

// NotAdmitted says why a contender was not admitted. It also has the state of
// the queue when the contender last saw it.
type NotAdmitted struct {
	Seen   time.Time // the time of the contender's last look; zero if it never saw the queue
	Ahead  int       // contenders before it
	Holder string    // the first contender's node name; empty if there is none

	// These describe the holder, if its node was read.
	HolderData    []byte // what it says of its owner, no more than MaxData of it
	HolderSession int64  // the id of the session that it belongs to
	HolderSince   time.Time

	Err error
}

// recallHolder adds what was known of the holder already, if it is the same one and the
// contender has not read its node.
func (r *NotAdmitted) recallHolder(known NotAdmitted) {
	if r.Holder == known.Holder && !r.hasRead() {
		r.HolderData, r.HolderSession, r.HolderSince = known.HolderData, known.HolderSession, known.HolderSince
	}
}

// hasRead reports whether something is known of the holder but its name.
func (r *NotAdmitted) hasRead() bool { return r.HolderSession != 0 || !r.HolderSince.IsZero() }

// ErrorOf returns the error for the caller of an attempt that has failed with
// err. If ctx has ended, that is the reason, even if another error came first. The error
// names the last error that the attempt has retried after, or nil, then.
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

// Settled takes framework.ErrOutcomeUnknown out of the error of an attempt that
// has failed. Its outcome is known: whatever has become of its request, the
// caller does not hold the lock, nobody else can hold it by the node that the
// request may have made, and the client deletes that.
func Settled(err error) error {
	if op, ok := err.(*framework.OpError); ok { //nolint:errorlint // the outermost error, and what it wraps is next
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

// EndOf describes the end of an acquire for a tracer. The hold is nil if there
// is none, or there are several.
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

// EndsAcquire is the Ends of a follow.Recovery for an acquire: it retries through
// outages, and losses of the session. Its caller receives all other errors.
func EndsAcquire(err error) bool { return !framework.IsConnectionError(err) }

// Invalid returns the error of an invalid value. It matches zk.ErrBadArguments.
func Invalid(name, value, reason string) error {
	return &framework.ConfigError{Name: name, Value: value, Reason: reason}
}

// IsNil returns the error of an argument that must not be nil.
func IsNil(name string) error { return Invalid(name, "nil", "must not be nil") }
