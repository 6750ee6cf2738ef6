// Package reason has the errors that say why something came to no end of its
// own, where several packages say it.
package reason

import (
	"context"
	"errors"
	"fmt"
)

// ErrPanicked is what is told of a call that does not return, because the user's
// code in it has panicked or has ended the goroutine.
var ErrPanicked = errors.New("panicked")

// OfContext returns the error of a context that has ended. The error matches
// ctx.Err() and the context's cause.
func OfContext(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(err, cause) {
		return err
	}
	return fmt.Errorf("%w: %w", err, cause)
}
