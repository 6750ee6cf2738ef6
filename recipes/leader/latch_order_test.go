package leader_test

import (
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/testing/zktest"
)

// TestLeaderLatch#testUncreatedPathGetLeader, CURATOR-436, CURATOR-358: Leader
// and Participants also answer if no candidate has ever stood, or if the leader
// leaves during the call.
func TestLeaderAndParticipantsOfLatches(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		nobody := leader.NewSelector(c, path) // it does not stand
		_, err := nobody.Leader(ctx)
		require.ErrorIs(t, err, leader.ErrNoLeader)
		all, err := nobody.Participants(ctx)
		require.NoError(t, err)
		require.Empty(t, all)

		latches, lease := w.startLatches(t, path, 3, leader.WithID("héllo"))
		asks := latch(t, c, path, leader.WithID("héllo"))
		w.WaitNodes(t, path, 4)
		all, err = asks.Participants(ctx)
		require.NoError(t, err)
		require.Len(t, all, 4)
		for i, p := range all {
			require.Equal(t, i == 0, p.Holder)
			require.Equal(t, "héllo", p.ID())
		}
		leading, err := asks.Leader(ctx)
		require.NoError(t, err)
		require.Equal(t, all[0], leading)
		require.Equal(t, lease.FencingToken(), leading.Token)
		if w.Fake != nil {
			gone := zktest.CallAfter(func(zktest.Request) { latches[0].Shutdown(ctx) })
			w.Fake.Inject(zktest.Rule{Session: c.SessionID(), Op: zktest.OpGetChildren, Do: gone})
			leading, err = asks.Leader(ctx)
			require.NoError(t, err)
			require.Equal(t, all[1].Path, leading.Path)
		}
		w.closeAll(t, path, append(latches, asks)...)
		_, err = asks.Leader(ctx)
		require.ErrorIs(t, err, leader.ErrNoLeader)
	})
}

// A candidate comes behind the leader, and that one goes, while the queue was
// listed and the leader's node was not yet read. Somebody has led all the while.
func TestLeaderThatHasComeMeanwhileIsFound(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		c, _ := w.Connect(t)
		require.NoError(t, w.Fake.Create("/l", nil))
		require.NoError(t, w.Fake.Create("/l/lock-0000000001", nil))
		read := w.Fake.Inject(zktest.Rule{Op: zktest.OpGetData, Path: "/l/lock-0000000001", Do: zktest.Call(func(zktest.Request) {
			require.NoError(t, w.Fake.Create("/l/lock-0000000002", nil))
			require.NoError(t, w.Fake.Delete("/l/lock-0000000001"))
		})})
		leading, err := leader.NewSelector(c, "/l").Leader(ctx)
		require.NoError(t, err)
		require.Equal(t, 1, read.Hits())
		require.Equal(t, "/l/lock-0000000002", leading.Path)
	})
}

// TestLeaderLatch#testRelativePath: a latch with an invalid path or option does
// not stand.
func TestLatchThatCannotStand(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		_, err := leader.NewLatch(c, "relative")
		require.ErrorIs(t, err, zk.ErrInvalidPath)
		for _, opt := range []leader.Option{
			leader.WithGrace(-1), leader.WithID("__REVOKE__"), leader.WithRequeue(func(error) bool { return true }), nil,
		} {
			_, err = leader.NewLatch(c, "/l", opt)
			require.ErrorIs(t, err, zk.ErrBadArguments)
		}
	})
}
