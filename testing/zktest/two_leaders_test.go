package zktest_test

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// A sync tells nothing at two kinds of leader: at one that has not applied yet
// what its followers have acknowledged, and at one that was deposed.

// check is a transaction that changes nothing.
func check(c *client) error {
	_, err := c.Multi(&zk.CheckVersionRequest{Path: "/", Version: -1})
	return err
}

func hasNode(t *testing.T, c *client, path string) bool {
	t.Helper()
	there, _, err := c.Exists(path)
	require.NoError(t, err)
	return there
}

func TestLeaderThatLagsIsBehindItsFollowers(t *testing.T) {
	inEnsemble(t, func(t *testing.T, ens *zktest.Ensemble) {
		leader, follower := ens.Leader(), ens.Members()[0]
		atLeader, atFollower := connectTo(t, leader, 9*time.Second), connectTo(t, follower, 9*time.Second)
		other := connectTo(t, ens.Members()[1], 9*time.Second)
		_, _, events, err := atLeader.ExistsW("/a")
		require.NoError(t, err)
		require.NoError(t, leader.Lag(time.Second))

		start := time.Now()
		_, err = atFollower.Create("/a", nil, 0, open)
		require.NoError(t, err)
		_, err = other.Sync("/")
		require.NoError(t, err)
		require.True(t, hasNode(t, other, "/a"), "a follower catches up with what the leader has made")
		_, err = atLeader.Sync("/")
		require.NoError(t, err)
		require.False(t, hasNode(t, atLeader, "/a"), "the leader answers its own client as if that had read")
		require.Empty(t, events)
		require.Zero(t, time.Since(start))
		require.Equal(t, 1, zkinside.Of(leader).Behind())

		require.NoError(t, check(atLeader))
		require.Equal(t, time.Second, time.Since(start), "a transaction waits for its turn")
		require.True(t, hasNode(t, atLeader, "/a"))
		require.Zero(t, zkinside.Of(leader).Behind())
		require.Equal(t, zk.EventNodeCreated, (<-events).Type)
	})
}

func TestWritesThroughALeaderThatLags(t *testing.T) {
	inEnsemble(t, func(t *testing.T, ens *zktest.Ensemble) {
		leader := ens.Leader()
		c := connectTo(t, leader, 9*time.Second)
		require.NoError(t, leader.Lag(time.Second))
		start := time.Now()
		_, err := c.Create("/a", nil, 0, open)
		require.NoError(t, err)
		require.Equal(t, time.Second, time.Since(start))
		require.NoError(t, leader.Create("/b/c", nil), "the parent is made, and not applied yet")
		require.NoError(t, leader.Delete("/b"))
		require.NoError(t, zkinside.Of(leader).SetSequence("/a", 1<<31-1))
		_, err = c.Multi(
			&zk.CreateRequest{Path: "/a/n-", Flags: zk.FlagSequence, Acl: open},
			&zk.CreateRequest{Path: "/a/n-", Flags: zk.FlagSequence, Acl: open})
		require.NoError(t, err)
		require.Equal(t, []string{"n--2147483648", "n-2147483647"}, leader.Children("/a"))
		require.NoError(t, leader.Set("/a", []byte("x")))
		require.Nil(t, node(t, leader, "/a").Data)
		require.NoError(t, leader.Lag(0))
		require.Equal(t, "x", string(node(t, leader, "/a").Data))
		requireSame(t, ens)
		require.NoError(t, leader.Set("/a", []byte("y")))
		require.Equal(t, "y", string(node(t, leader, "/a").Data))
		requireSame(t, ens)
	})
}

func node(t *testing.T, m *zktest.Member, path string) zktest.Node {
	t.Helper()
	n, found := m.Node(path)
	require.True(t, found)
	return n
}

// deposed runs a test with a leader that is cut off and does not know that the
// others have elected another one.
func deposed(t *testing.T, test func(t *testing.T, ens *zktest.Ensemble, old, next *zktest.Member, c *client)) {
	t.Helper()
	inEnsemble(t, func(t *testing.T, ens *zktest.Ensemble) {
		old := ens.Leader()
		c := connectToAll(t, ens, ens.Members()[0], 9*time.Second)
		require.NoError(t, ens.Partition(old))
		for _, m := range ens.Members()[:2] { // they notice at once
			require.NoError(t, m.Restart())
		}
		next := awaitLeader(t, ens)
		require.NotEqual(t, old, next)
		test(t, ens, old, next, c)
	}, zkinside.With(zkinside.Settings{SyncLimit: 100}).(zktest.Option))
}

func moveTo(t *testing.T, ens *zktest.Ensemble, c *client, m *zktest.Member) {
	t.Helper()
	require.True(t, zkinside.Of(ens).MoveSession(c.SessionID(), m.ID()))
	c.await(t, zk.StateDisconnected)
	c.await(t, zk.StateHasSession)
	require.Equal(t, m.ID(), zkinside.Of(ens).MemberOf(c.SessionID()))
}

// A client whose reply was lost does not know that it has seen the next leader's
// history, and may come to the old one.
func TestDeposedLeaderTakesASessionUp(t *testing.T) {
	deposed(t, func(t *testing.T, ens *zktest.Ensemble, old, next *zktest.Member, c *client) {
		c.await(t, zk.StateHasSession)
		moveTo(t, ens, c, next)
		ens.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.All(
			zktest.CallAfter(func(zktest.Request) { zkinside.Of(ens).MoveSession(c.SessionID(), old.ID()) }), zktest.DropReply())})
		_, err := c.Create("/a", nil, zk.FlagEphemeral, open)
		require.Error(t, err)
		c.await(t, zk.StateHasSession)
		require.Equal(t, old.ID(), zkinside.Of(ens).MemberOf(c.SessionID()))
		_, err = c.Sync("/")
		require.NoError(t, err)
		require.False(t, hasNode(t, c, "/a"))

		moveTo(t, ens, c, next)
		require.True(t, hasNode(t, c, "/a"))
		require.NoError(t, check(c))
		require.True(t, zkinside.Of(ens).MoveSession(c.SessionID(), old.ID()))
		c.await(t, zk.StateDisconnected)
		time.Sleep(2 * time.Second)
		require.Zero(t, zkinside.Of(ens).MemberOf(c.SessionID()), "it has seen more than the old leader has")
		ens.Heal()
		c.await(t, zk.StateHasSession)
	})
}

// What a deposed leader hears does not keep a session alive.
func TestDeposedLeaderProlongsNoSession(t *testing.T) {
	deposed(t, func(t *testing.T, ens *zktest.Ensemble, old, next *zktest.Member, c *client) {
		c.await(t, zk.StateHasSession)
		id, start := c.SessionID(), time.Now()
		moveTo(t, ens, c, old)
		require.NoError(t, next.WaitFor(t.Context(), func() bool { return len(next.Sessions()) == 0 }))
		require.Less(t, time.Since(start), 11*time.Second)
		require.Equal(t, "leader", old.Stats().Mode)
		require.True(t, hasNode(t, c, "/"))
		ens.Heal()
		c.await(t, zk.StateExpired)
		require.NotEqual(t, id, c.SessionID())
	})
}

// There is no majority for a transaction, however small.
func TestDeposedLeaderMakesNoTransaction(t *testing.T) {
	deposed(t, func(t *testing.T, ens *zktest.Ensemble, old, next *zktest.Member, c *client) {
		c.await(t, zk.StateHasSession)
		moveTo(t, ens, c, old)
		done := make(chan error, 1)
		go func() { done <- check(c) }()
		time.Sleep(time.Second)
		require.Empty(t, done)
		require.Equal(t, 1, old.Stats().Connections)
		ens.Heal()
		require.Error(t, <-done)
		c.await(t, zk.StateHasSession)
		require.NoError(t, check(c))
	})
}
