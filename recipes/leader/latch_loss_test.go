package leader_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/state"
)

// Under the standard policy each interruption ends the leadership, but keeps
// the node. However many there are, they leave no goroutine and no watch
// behind.
//
// Promise: An interrupted leader leads again with its own node and leaves no watch.
func TestInterruptedLeaderLeadsAgainWithItsNode(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, network := w.Connect(t, framework.WithErrorPolicy(state.StandardPolicy))
		l := latch(t, c, "/l")
		first := w.await(t, l)
		lease := first
		for range 30 {
			network.Refuse(true) // keeps the latch from leading again before the test looks
			network.Cut()
			<-lease.Context().Done()
			require.ErrorIs(t, context.Cause(lease.Context()), framework.ErrSuspended)
			require.Nil(t, l.Leadership())
			require.ErrorIs(t, l.Resign(t.Context()), leader.ErrNotLeader)
			network.Refuse(false)
			again := w.await(t, l)
			require.NotSame(t, lease, again)
			require.Equal(t, first.Path(), again.Path())
			require.Equal(t, first.FencingToken(), again.FencingToken())
			require.ErrorIs(t, lease.Release(t.Context()), framework.ErrSuspended, "it has nothing to give up any more")
			lease = again
			time.Sleep(time.Second)
		}
		synctest.Wait()
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		require.NotContains(t, string(stacks), "seat.(*Seat).watch(")
		require.Len(t, w.Fake.Watches(), 1)
		watches := framework.Extend(c).Status().Watches
		require.Len(t, watches, 1)
		require.Equal(t, 1, watches[0].Waiters, "all waiters share one watch at the server")
		w.closeAll(t, "/l", l)
	})
}
