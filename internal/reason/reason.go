// Package reason has the errors of operations that a context has cut short, and
// distinguishes these errors from answers.
//
// A caller's context may end with any error as its cause, even with an error of this
// library: errgroup and context.WithCancelCause pass on the error of another call.
// Users find that cause in the errors of this library with errors.Is. The library
// itself must not: "no such node" in a cause is not the server's answer. So the library
// decides with Is and As of this package, which skip causes. The linter forbids
// errors.Is and errors.As.
package reason

import (
	"context"
	"errors"
	"fmt"
	"reflect"
)

// OfContext returns the error of a context that has ended. For errors.Is, it
// matches ctx.Err() and the context's cause. For Is, it only matches
// context.Canceled or context.DeadlineExceeded.
func OfContext(ctx context.Context) error {
	err, cause := kindOf(ctx), context.Cause(ctx)
	if own := ctx.Err(); own != err { // a user-defined context
		err = fmt.Errorf("%w: %w", err, Foreign(own))
	}
	if errors.Is(err, cause) {
		return err
	}
	return &ended{err, Foreign(cause)}
}

// IsOfContext reports whether ctx has ended and err is the error of OfContext. A
// user-defined context may have an error that Is does not find.
func IsOfContext(ctx context.Context, err error) bool {
	return ctx.Err() != nil && Is(err, kindOf(ctx))
}

// kindOf returns the error of package context that stands for the error of an ended
// context.
func kindOf(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return context.DeadlineExceeded
	}
	return context.Canceled
}

// ended is the error of a context with a cause. ended and foreign are pointers because
// errors.Is compares errors with ==, which panics on a value that contains a cause of
// an incomparable type, such as a slice.
type ended struct{ err, cause error }

func (e *ended) Error() string {
	if text := e.cause.Error(); text != e.err.Error() {
		return e.err.Error() + ": " + text
	}
	return e.err.Error()
}

func (e *ended) Unwrap() []error { return []error{e.err, e.cause} }

// Foreign marks err as an error from user code, such as a cause or the error of a
// callback. The result has the same text, and errors.Is finds err inside. Is and As
// find nothing inside.
func Foreign(err error) error { return &foreign{err} }

type foreign struct{ error }

func (e *foreign) Unwrap() error { return e.error }

// Is is errors.Is, except that it skips Foreign errors.
func Is(err, target error) bool {
	if err == nil || target == nil {
		return err == target
	}
	comparable := reflect.TypeOf(target).Comparable()
	return Find(err, func(err error) bool {
		if comparable && err == target {
			return true
		}
		custom, ok := err.(interface{ Is(target error) bool })
		return ok && custom.Is(target)
	})
}

// As is errors.As, except that it skips Foreign errors. No error of this library has a
// method As.
func As[E error](err error, target *E) bool {
	return Find(err, func(err error) bool {
		found, ok := err.(E)
		if ok {
			*target = found
		}
		return ok
	})
}

// Find reports whether matches returns true for err or an error that it wraps, skipping
// Foreign errors, in the order of errors.Is.
func Find(err error, matches func(error) bool) bool {
	for err != nil {
		if _, ok := err.(*foreign); ok {
			return false
		}
		if matches(err) {
			return true
		}
		switch wrapper := err.(type) {
		case interface{ Unwrap() error }:
			err = wrapper.Unwrap()
		case interface{ Unwrap() []error }:
			for _, err := range wrapper.Unwrap() {
				if Find(err, matches) {
					return true
				}
			}
			return false
		default:
			return false
		}
	}
	return false
}
