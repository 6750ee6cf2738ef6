//go:build real

package locks_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
)

// A holder and a waiter live through the death of their ensemble's leader, and
// the lock is handed over afterwards.
func TestLockOutlivesTheLeaderOfTheEnsemble(t *testing.T) {
	w, ensemble := newEnsembleWorld(t)
	ctx, path := w.Patience(t), recipetest.Path(t)
	c1, _ := w.Connect(t)
	c2, _ := w.Connect(t)
	holder := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(c1, path))
	waiter := locktest.AcquireLater(ctx, locks.NewInterProcessMutex(c2, path))
	w.WaitNodes(t, path, 2)

	leader, err := ensemble.WaitLeader(ctx)
	require.NoError(t, err)
	require.NoError(t, leader.Kill())
	_, err = ensemble.WaitLeader(ctx)
	require.NoError(t, err)

	w.WaitNodes(t, path, 2)
	require.NoError(t, holder.Context().Err())
	require.False(t, waiter.IsOver())
	require.NoError(t, holder.Release(ctx))
	next := waiter.Wait(t)
	require.Greater(t, next.FencingToken(), holder.FencingToken())
	require.NoError(t, next.Release(ctx))
	w.WaitNodes(t, path, 0)
}
