package certmagic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// causeless is a context whose cause is its own error. The cause of the caller's context
// may be any error, even an error of another call that errgroup passes on. This package's
// errors must not wrap the cause, because callers decide by what an error matches:
// certmagic creates a new account when the error of a Load matches fs.ErrNotExist.
type causeless struct {
	context.Context // the caller's values
	callers         context.Context
}

func withoutCause(ctx context.Context) context.Context {
	return causeless{context.WithoutCancel(ctx), ctx}
}

func (c causeless) Deadline() (time.Time, bool) { return c.callers.Deadline() }
func (c causeless) Done() <-chan struct{}       { return c.callers.Done() }

// Err returns one of the two errors of package context, because the error of a
// user-defined context may match anything.
func (c causeless) Err() error {
	switch err := c.callers.Err(); {
	case err == nil:
		return nil
	case is(err, context.DeadlineExceeded):
		return context.DeadlineExceeded
	}
	return context.Canceled
}

// AfterFunc spares each context below this one a goroutine; see package context.
func (c causeless) AfterFunc(f func()) (stop func() bool) { return context.AfterFunc(c.callers, f) }

// failed returns the error of a call. The error names the action and its object, and
// contains the text of the context's cause if the end of the context made the call
// fail.
func failed(ctx context.Context, did, what string, err error) error {
	if err != fs.ErrNotExist && is(err, fs.ErrNotExist) { //nolint:errorlint // this package returns that very value
		err = noMissingKey{err}
	}
	if over := withoutCause(ctx).Err(); over != nil && is(err, over) {
		cause := cmp.Or(context.Cause(ctx), over)
		if cause.Error() != over.Error() {
			return fmt.Errorf("%s %q: %w: %v", did, what, err, cause) //nolint:errorlint // see causeless
		}
	}
	return fmt.Errorf("%s %q: %w", did, what, err)
}

// noMissingKey is an error about a missing file, such as the client's certificate. It
// does not match fs.ErrNotExist, which would mean that the key is missing.
type noMissingKey struct{ error }

func (e noMissingKey) Is(target error) bool {
	return target != fs.ErrNotExist && is(e.error, target)
}

func (e noMissingKey) As(target any) bool {
	return errors.As(e.error, target) //nolint:forbidigo // for users of this package
}

// is is errors.Is. For answers of the servers, use code instead.
func is(err, target error) bool {
	return errors.Is(err, target) //nolint:forbidigo // contexts have no cause here
}
