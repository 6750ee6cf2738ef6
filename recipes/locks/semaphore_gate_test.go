package locks_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// The waiter ahead at the gate takes the lease. The next waiter receives that event,
// and its connection breaks before the waiter has listed the leases. The next server
// lags behind, and knows nothing of the lease. An event does not say how new its server
// is, so the client does not refuse the server that lags. The next waiter therefore
// lists the gate first: the listing says how new the server is.
//
// Promise: The next waiter of a semaphore does not trust a list of leases that is older
// than its turn.
func TestNextAtTheGateListsNoOlderLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ens := zktest.StartEnsemble(t, 3)
		near, far := ens.Followers()[0], ens.Followers()[1]
		first := locks.NewInterProcessSemaphore(connectToOne(t, ens, ens.Leader()), "/l", locks.Limit(1))
		require.NoError(t, hold(t, t.Context(), first).Release(t.Context()))
		far.RefuseConnections(true)
		c, err := framework.Connect(t.Context(), near.Addr()+","+far.Addr(), framework.WithDialer(ens.Dialer()))
		require.NoError(t, err)
		defer c.Close()
		far.RefuseConnections(false)
		ens.Leader().Inject(zktest.Rule{Op: zktest.OpMulti, Do: zktest.DelayRequest(2 * time.Second)})
		one := take(t.Context(), first)
		time.Sleep(time.Second)
		two := take(t.Context(), locks.NewInterProcessSemaphore(c, "/l", locks.Limit(1)))
		time.Sleep(time.Second / 2)
		require.NoError(t, far.Lag(5*time.Second))
		near.Inject(zktest.Rule{Optional: true, Op: list, Path: "/l/leases", Session: c.SessionID(), Do: zktest.All(
			zktest.Call(func(zktest.Request) { near.RefuseConnections(true) }), zktest.DropRequest())})
		one.Wait(t)
		time.Sleep(20 * time.Second)
		require.False(t, two.IsOver(), "there are more leases than the limit")
		require.NoError(t, one.Lease.Release(t.Context()))
		require.NoError(t, two.Wait(t).Release(t.Context()))
	})
}
