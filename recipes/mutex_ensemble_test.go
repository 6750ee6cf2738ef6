package recipes_test

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes"
	"github.com/gocurator/curator/testing/zkserver"
)

// A holder and a waiter live through the death of their ensemble's leader, and the lock is handed over afterwards.
func TestLockOutlivesTheLeaderOfTheEnsemble(t *testing.T) {
	ensemble := zkserver.StartEnsemble(t, 3)
	w := &world{addr: ensemble.ConnectString(), dial: (&net.Dialer{}).DialContext, session: 20 * time.Second}
	w.observer, _ = w.connect(t)
	ctx, path := w.patience(t), path(t)
	c1, _ := w.connect(t)
	c2, _ := w.connect(t)
	holder := acquire(t, ctx, recipes.NewInterProcessMutex(c1, path))
	waiter := acquireLater(ctx, recipes.NewInterProcessMutex(c2, path))
	w.waitNodes(t, path, 2)

	leader, err := ensemble.Leader(ctx)
	require.NoError(t, err)
	require.NoError(t, leader.Kill())
	_, err = ensemble.Leader(ctx)
	require.NoError(t, err)

	w.waitNodes(t, path, 2)
	require.NoError(t, holder.Context().Err())
	require.False(t, waiter.over())
	require.NoError(t, holder.Release(ctx))
	next := waiter.wait(t)
	require.Greater(t, next.FencingToken(), holder.FencingToken())
	require.NoError(t, next.Release(ctx))
	w.waitNodes(t, path, 0)
}
