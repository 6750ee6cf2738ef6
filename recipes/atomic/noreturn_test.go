package atomic_test

import (
	"context"
	"errors"
	"testing"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/recipes/atomic"
)

// Every call of the user's code on the goroutine of a caller does not return in
// turn.
func TestCallThatDoesNotReturnLeavesNothingOfANumber(t *testing.T) {
	locktest.NoReturn(t, func(_ *testing.T, ctx context.Context, c *framework.Client) error {
		_, updated := atomic.NewLong(c, "/n").Update(ctx, func(old int64) (int64, error) { return old + 1, nil })
		s := atomic.NewSequence(c, "/s")
		_, next := s.Next(ctx)
		_, dense := s.NextDense(ctx)
		if errors.Is(next, framework.ErrOutcomeUnknown) {
			next = nil
		}
		return errors.Join(updated, next, dense)
	})
}
