package follow

import (
	"context"

	"github.com/gocurator/curator/framework"
)

// Each runs a loop for an iterator. Look is the loop's; what it tells is
// yielded, and when the caller has left, tell returns an error that look has to
// return. An error that ends the loop is yielded as the last element, as named
// makes it. The end of ctx is no error.
func Each[T any](
	ctx context.Context, l *Loop, yield func(T, error) bool, named func(error) error,
	look func(ctx context.Context, s *framework.Session, tell func(T) error) error,
) {
	tell := func(v T) error {
		if !yield(v, nil) {
			return ErrDone
		}
		return nil
	}
	l.Look = func(ctx context.Context, s *framework.Session) error { return look(ctx, s, tell) }
	if err := l.Run(ctx); err != nil && ctx.Err() == nil {
		var none T
		yield(none, named(err))
	}
}
