package locks_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
)

// Leases that a try for several has taken already do not count as leases ahead
// of it.
func TestTryAcquireOfSeveralDoesNotNameItself(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		s := locks.NewInterProcessSemaphore(c, path, locks.SharedLimit(path+"-limit", 2))
		var refused *locks.NotAcquiredError
		_, err := s.TryAcquireN(ctx, 3)
		require.ErrorAs(t, err, &refused)
		require.Zero(t, refused.Ahead)
		require.Empty(t, refused.Holder)

		first := hold(t, ctx, s)
		_, err = s.TryAcquireN(ctx, 2)
		require.ErrorAs(t, err, &refused)
		require.Equal(t, 1, refused.Ahead)
		require.Contains(t, first.Path(), refused.Holder)
		require.NotEmpty(t, refused.Identity)
		require.NoError(t, first.Release(ctx))
	})
}
