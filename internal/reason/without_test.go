package reason_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/reason"
)

var errUnwanted = errors.New("unwanted")

func TestWithoutKeepsAllElse(t *testing.T) {
	unwanted := func(err error) error { return fmt.Errorf("%w: %w", errUnwanted, err) }
	for name, tc := range map[string]struct {
		err  error
		text string
	}{
		"nothing to take out": {fmt.Errorf("x: %w", errAnswer), "x: answer"},
		"beside an answer":    {unwanted(errAnswer), "answer"},
		"wrapped":             {fmt.Errorf("x: %w", unwanted(fmt.Errorf("y: %w", errAnswer))), "y: answer"},
		"deep inside":         {fmt.Errorf("%w: %w", fs.ErrExist, unwanted(errAnswer)), "file already exists: answer"},
		"twice":               {unwanted(unwanted(errAnswer)), "answer"},
	} {
		t.Run(name, func(t *testing.T) {
			left := reason.Without(tc.err, errUnwanted)
			require.EqualError(t, left, tc.text)
			require.NotErrorIs(t, left, errUnwanted)
			require.ErrorIs(t, left, errAnswer)
		})
	}
	require.NoError(t, reason.Without(nil, errUnwanted))
}

func TestWithoutTheOnlyError(t *testing.T) {
	left := reason.Without(fmt.Errorf("x: %w", errUnwanted), errUnwanted)
	require.EqualError(t, left, "x: unwanted")
	require.NotErrorIs(t, left, errUnwanted)
}

// The cause of a context is the user's, and stays as it is.
func TestWithoutLeavesCausesAlone(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errUnwanted)
	left := reason.Without(fmt.Errorf("%w: %w", errUnwanted, reason.OfContext(ctx)), errUnwanted)
	require.EqualError(t, left, "context canceled: unwanted")
	require.ErrorIs(t, left, errUnwanted)
	require.False(t, reason.Is(left, errUnwanted))
}
