package reason

import (
	"errors"
	"fmt"
)

// Without returns err without target, which must be a plain value. Is finds the same
// errors in the result as in err, except target and the errors that wrap it. If err
// contains nothing else, the result has the text of err.
func Without(err, target error) error {
	if !Is(err, target) {
		return err
	}
	if left := without(err, target); left != nil {
		return left
	}
	return errors.New(err.Error())
}

func without(err, target error) (left error) {
	if !Is(err, target) {
		return err
	}
	for _, part := range unwrap(err) {
		part = without(part, target)
		switch {
		case left == nil:
			left = part
		case part != nil:
			left = fmt.Errorf("%w: %w", left, part)
		}
	}
	return left
}

func unwrap(err error) []error {
	switch wrapper := err.(type) {
	case interface{ Unwrap() error }:
		return []error{wrapper.Unwrap()}
	case interface{ Unwrap() []error }:
		return wrapper.Unwrap()
	default:
		return nil
	}
}
