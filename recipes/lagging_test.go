package recipes_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// A client loses its server. The other one that it reaches lags, and does not have
// the client's own nodes yet. Nobody takes them for deleted: not the holder of a
// lock, not one who waits, and neither a leader nor a persistent node.
//
// Promise: A session that moves to another server sees its own writes there.
func TestNobodyMissesItsOwnNodeAtAServerThatLags(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ens := zktest.StartEnsemble(t, 3)
		first, late := ens.Followers()[0], ens.Followers()[1]
		connectTo := func(addresses string, opts ...framework.Option) *framework.Client {
			c, err := framework.Connect(recipetest.Within(t, time.Minute), addresses, append(opts,
				framework.WithDialer(ens.Dialer()), framework.WithSessionTimeout(time.Minute))...)
			require.NoError(t, err)
			t.Cleanup(func() { c.Close() })
			return c
		}
		late.RefuseConnections(true)
		c := connectTo(first.Addr()+","+late.Addr(), framework.WithErrorPolicy(state.SessionPolicy))
		other := connectTo(ens.Leader().Addr())
		const lag = 20 * time.Second
		require.NoError(t, late.Lag(lag))

		ctx := recipetest.Within(t, time.Hour)
		held := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(c, "/held"))
		theirs := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(other, "/queue"))
		waiting := locktest.AcquireLater(ctx, locks.NewInterProcessMutex(c, "/queue"))
		latch, err := leader.NewLatch(c, "/latch")
		require.NoError(t, err)
		leads, err := latch.WaitLeadership(ctx)
		require.NoError(t, err)
		node, err := nodes.NewPersistentNode(c, "/node", nil)
		require.NoError(t, err)
		there, err := node.WaitRegistered(ctx)
		require.NoError(t, err)
		time.Sleep(2 * time.Second) // the holders watch their nodes by now
		synctest.Wait()
		before := ens.Leader().Tree()

		late.RefuseConnections(false)
		first.RefuseConnections(true)
		first.CutAll()
		time.Sleep(lag / 2)
		require.False(t, c.State().IsConnected(), "the server lags too much to take the client in")
		time.Sleep(lag)
		require.True(t, c.State().IsConnected())
		require.NoError(t, held.Context().Err())
		require.NoError(t, leads.Context().Err())
		require.Equal(t, leads, latch.Leadership())
		now, err := node.WaitRegistered(ctx)
		require.NoError(t, err)
		require.Equal(t, there.Czxid, now.Czxid)
		require.Equal(t, before, ens.Leader().Tree(), "nobody has made another node")
		require.NoError(t, theirs.Release(ctx))
		require.NoError(t, waiting.Wait(t).Release(ctx))
		require.NoError(t, held.Release(ctx))
		require.NoError(t, latch.Shutdown(ctx))
		require.NoError(t, node.Shutdown(ctx))
	})
}
