package barriers_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/barriers"
	"github.com/gocurator/curator/testing/zktest"
)

// connectToOne connects to members of an ensemble.
func connectToOne(t *testing.T, ens *zktest.Ensemble, addresses string) *framework.Client {
	t.Helper()
	c, err := framework.Connect(recipetest.Within(t, time.Minute), addresses, framework.WithDialer(ens.Dialer()))
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// What is done about a barrier is seen by all calls that begin then, also on a
// server that lags behind.
//
// Promise: Wait does not pass a barrier that was raised before the call.
func TestBarrierOnAServerThatLags(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ens := zktest.StartEnsemble(t, 3)
		operator, worker := connectToOne(t, ens, ens.Leader().Addr()), connectToOne(t, ens, ens.Followers()[0].Addr())
		gate, sameGate := barriers.NewBarrier(operator, "/gate"), barriers.NewBarrier(worker, "/gate")
		require.NoError(t, ens.Followers()[0].Lag(3*time.Second))
		ctx := recipetest.Within(t, time.Hour)
		for range 3 {
			_, err := gate.Raise(ctx)
			require.NoError(t, err)
			require.ErrorIs(t, sameGate.Wait(recipetest.Within(t, 10*time.Second)), barriers.ErrRaised)
			require.NoError(t, gate.Lower(ctx))
			_, up, err := sameGate.Raised(ctx)
			require.NoError(t, err)
			require.False(t, up)
			raised, err := gate.Raise(ctx)
			require.NoError(t, err)
			seen, up, err := sameGate.Raised(ctx)
			require.NoError(t, err)
			require.True(t, up)
			require.Equal(t, raised, seen)
			require.NoError(t, gate.Lower(ctx))
		}
	})
}

// A member comes to a server that lags behind, and still
// has the round before this one. The member does not pass alone.
//
// Promise: The ready node of a former round lets no member pass at a server that lags.
func TestMemberOnAServerThatLags(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ens := zktest.StartEnsemble(t, 3)
		one, two := connectToOne(t, ens, ens.Leader().Addr()), connectToOne(t, ens, ens.Leader().Addr())
		late := connectToOne(t, ens, ens.Followers()[0].Addr())
		w := &world{&recipetest.World{}}
		passages := w.enterAll(t, "/b", []*framework.Client{one, two})
		require.NoError(t, late.Sync(t.Context(), "/"))
		require.NoError(t, ens.Followers()[0].Lag(3*time.Second))
		w.leaveAll(t, passages)
		_, err := barriers.NewDoubleBarrier(late, "/b", 2).Enter(recipetest.Within(t, time.Minute))
		require.ErrorIs(t, err, barriers.ErrNotEntered)
	})
}

// A third member has entered when another one leaves, whose
// server lags behind and does not have the third one yet. It waits for that one
// all the same.
//
// Promise: Leave waits for every member that entered before, even at a server that lags.
func TestLeaveOnAServerThatLags(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ens := zktest.StartEnsemble(t, 3)
		one, third := connectToOne(t, ens, ens.Leader().Addr()), connectToOne(t, ens, ens.Leader().Addr())
		behind := connectToOne(t, ens, ens.Followers()[0].Addr())
		w := &world{&recipetest.World{}}
		passages := w.enterAll(t, "/b", []*framework.Client{one, behind})
		require.NoError(t, ens.Followers()[0].Lag(3*time.Second))
		late, err := barriers.NewDoubleBarrier(third, "/b", 2).Enter(w.Patience(t))
		require.NoError(t, err)
		over, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, passages[0].Leave(over), barriers.ErrNotLeft)
		left := leaveLater(w.Patience(t), passages[1])
		time.Sleep(time.Minute)
		require.False(t, left.isOver(), "the third one is inside")
		w.leaveAll(t, []*barriers.Passage{late})
		<-left.done
		require.NoError(t, left.err)
	})
}

// A third member arrives at a server that lags behind, and does not see that the
// barrier is open. Its node exists when the second member leaves, who waits for the
// third. When the server has caught up, the second member may have deleted its node
// already. The third member enters all the same, because otherwise the second would
// wait forever.
//
// Promise: A member enters if another one was inside when its node was created.
func TestMemberThatSeesTheOpeningLater(t *testing.T) {
	for i := range 8 { // the order of the members' names decides who deletes its node first
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ens := zktest.StartEnsemble(t, 3)
				one, two := connectToOne(t, ens, ens.Leader().Addr()), connectToOne(t, ens, ens.Leader().Addr())
				late := connectToOne(t, ens, ens.Followers()[0].Addr())
				w := &world{&recipetest.World{}}
				require.NoError(t, ens.Followers()[0].Lag(3*time.Second))
				passages := w.enterAll(t, "/b", []*framework.Client{one, two})
				third := enterLater(w.Patience(t), barriers.NewDoubleBarrier(late, "/b", 2))
				synctest.Wait()
				over, cancel := context.WithCancel(t.Context())
				cancel()
				require.ErrorIs(t, passages[0].Leave(over), barriers.ErrNotLeft)
				left := leaveLater(w.Patience(t), passages[1])
				time.Sleep(time.Second)
				require.False(t, left.isOver(), "the third one's node is there")
				w.leaveAll(t, []*barriers.Passage{third.wait(t)})
				<-left.done
				require.NoError(t, left.err)
			})
		})
	}
}
