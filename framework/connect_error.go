package framework

import (
	"errors"

	"github.com/gocurator/curator/internal/reason"
)

// connectError is the end of a wait for a connection, with the reasons for that
// as far as they are known. They may be old.
type connectError struct {
	ended   error
	attempt error // why the last attempt to connect failed, or nil
	reasons string
}

func (e *connectError) Error() string { return e.ended.Error() + " (" + e.reasons + ")" }

// Unwrap returns how the wait ended, and then why there was no connection.
func (e *connectError) Unwrap() []error {
	if e.attempt == nil {
		return []error{e.ended}
	}
	return []error{e.ended, reason.Foreign(attemptError{e.attempt})}
}

// attemptError lets errors.Is and errors.As find in an operation's error why an
// attempt to connect failed, such as syscall.ECONNREFUSED. It hides every error
// that would say something about the operation. Above all, a dial that took too
// long matches context.DeadlineExceeded, and that was not the caller's
// deadline.
type attemptError struct{ err error }

func (e attemptError) Error() string { return e.err.Error() }

// Is implements errors.Is, instead of Unwrap.
//
//nolint:forbidigo // It answers users. The client itself does not look here.
func (e attemptError) Is(target error) bool {
	for _, class := range errorClasses {
		if errors.Is(target, class.err) {
			return false
		}
	}
	return errors.Is(e.err, target)
}

// As implements errors.As, instead of Unwrap.
//
//nolint:forbidigo // It answers users. The client itself does not look here.
func (e attemptError) As(target any) bool {
	if _, isAnswer := target.(**ServerError); isAnswer {
		return false
	}
	return errors.As(e.err, target)
}
