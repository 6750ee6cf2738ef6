package locks_test

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zkserver"
)

// A holder and a waiter live through the death of their ensemble's leader, and
// the lock is handed over afterwards.
func TestLockOutlivesTheLeaderOfTheEnsemble(t *testing.T) {
	ensemble := zkserver.StartEnsemble(t, 3)
	w := &world{&recipetest.World{Addr: ensemble.ConnectString(), Dial: (&net.Dialer{}).DialContext, Session: 20 * time.Second}}
	w.Observer, _ = w.Connect(t)
	ctx, path := w.Patience(t), recipetest.Path(t)
	c1, _ := w.Connect(t)
	c2, _ := w.Connect(t)
	holder := recipetest.Acquire(t, ctx, locks.NewInterProcessMutex(c1, path))
	waiter := recipetest.AcquireLater(ctx, locks.NewInterProcessMutex(c2, path))
	w.WaitNodes(t, path, 2)

	leader, err := ensemble.Leader(ctx)
	require.NoError(t, err)
	require.NoError(t, leader.Kill())
	_, err = ensemble.Leader(ctx)
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
