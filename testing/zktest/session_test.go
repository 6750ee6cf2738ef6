package zktest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

func TestClientLearnsOfExpiryAtReconnect(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *client) {
		other := connect(t, srv, time.Hour)
		id := c.SessionID()
		_, err := c.Create("/e", nil, zk.FlagEphemeral, open)
		require.NoError(t, err)
		_, _, events, err := other.ExistsW("/e")
		require.NoError(t, err)

		start := time.Now()
		srv.BlackholeAll()
		require.NoError(t, srv.WaitFor(t.Context(), func() bool { return len(srv.Sessions()) == 1 }))
		require.Equal(t, 9*time.Second, time.Since(start))
		require.Empty(t, srv.Tree())
		srv.Heal()
		c.await(t, zk.StateExpired)
		c.await(t, zk.StateHasSession)
		require.NotEqual(t, id, c.SessionID())
		require.Equal(t, zk.EventNodeDeleted, (<-events).Type, "the other client catches up by setWatches")
	})
}

func TestExpireSession(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *client) {
		other := connect(t, srv, time.Hour)
		_, err := c.Create("/e", nil, zk.FlagEphemeral, open)
		require.NoError(t, err)
		_, _, events, err := other.GetW("/e")
		require.NoError(t, err)
		zxid := srv.Stats().Zxid
		require.True(t, srv.Session(c.SessionID()).Expire())
		require.Equal(t, zxid+1, srv.Stats().Zxid)
		require.Equal(t, zk.EventNodeDeleted, (<-events).Type)
		c.await(t, zk.StateExpired)
		require.False(t, srv.Session(1).Expire())
		require.Zero(t, srv.Stats().Expired, "it did not time out")
	})
}

func TestReconnectInTheSameSessionCatchesUpOnWatches(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *client) {
		require.NoError(t, srv.Create("/parent/a", nil))
		_, _, data, err := c.GetW("/parent/a")
		require.NoError(t, err)
		_, _, children, err := c.ChildrenW("/parent")
		require.NoError(t, err)
		_, _, exists, err := c.ExistsW("/new")
		require.NoError(t, err)
		_, _, quiet, err := c.GetW("/parent")
		require.NoError(t, err)
		require.Equal(t, 4, session(t, srv).WatchCount)

		id := c.SessionID()
		srv.RefuseConnections(true)
		require.True(t, srv.Session(id).Cut())
		require.False(t, session(t, srv).Connected)
		require.Empty(t, srv.Watches())
		require.NoError(t, srv.Set("/parent/a", []byte("x")))
		require.NoError(t, srv.Create("/parent/b", nil))
		require.NoError(t, srv.Create("/new", nil))
		time.Sleep(4 * time.Second)
		srv.RefuseConnections(false)

		require.Equal(t, zk.EventNodeDataChanged, (<-data).Type)
		require.Equal(t, zk.EventNodeChildrenChanged, (<-children).Type)
		require.Equal(t, zk.EventNodeCreated, (<-exists).Type)
		require.Equal(t, id, c.SessionID())
		require.NoError(t, srv.WaitFor(t.Context(), func() bool { return zkinside.Of(srv).Watches(id) == 1 }))
		require.NoError(t, srv.Delete("/parent"))
		require.Equal(t, zk.EventNodeDeleted, (<-quiet).Type)
	})
}

func TestStopKeepsSessionsAndStartGivesThemAFullTimeout(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *client) {
		id := c.SessionID()
		_, err := c.Create("/e", nil, zk.FlagEphemeral, open)
		require.NoError(t, err)
		srv.Stop()
		require.Zero(t, srv.Stats().Connections)
		time.Sleep(time.Hour)
		require.Equal(t, zk.StateConnecting, c.State())
		require.Len(t, srv.Tree(), 1)
		srv.Restart()
		require.Equal(t, time.Now().Add(9*time.Second), session(t, srv).Deadline)
		c.await(t, zk.StateHasSession)
		require.Equal(t, id, c.SessionID())
	})
}

func TestSessionOfAClientThatNeverComesBackExpiresAfterStart(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *client) {
		srv.RefuseConnections(true)
		srv.Stop()
		time.Sleep(time.Minute)
		srv.Restart()
		time.Sleep(9*time.Second - 1)
		synctest.Wait()
		require.Len(t, srv.Sessions(), 1)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		require.Empty(t, srv.Sessions())
	})
}

func TestReplaceSession(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *client) {
		id := c.SessionID()
		_, err := c.Create("/e", nil, zk.FlagEphemeral, open)
		require.NoError(t, err)
		zkinside.Of(srv).ReplaceSession(id)
		srv.CutAll()
		c.await(t, zk.StateHasSession)
		require.NotEqual(t, id, c.SessionID())
		require.Len(t, srv.Sessions(), 2, "the old one is left to its timeout")
		require.NoError(t, srv.WaitChildren(t.Context(), "/e", 0))
		require.NoError(t, srv.WaitFor(t.Context(), func() bool { return len(srv.Tree()) == 0 }))
	})
}

func TestPartitionOfOneSession(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *client) {
		other := connect(t, srv, 9*time.Second)
		id := c.SessionID()
		require.True(t, srv.Session(id).Blackhole())
		start := time.Now()
		_, _, err := c.Get("/")
		require.Error(t, err)
		require.Greater(t, time.Since(start), 3*time.Second, "go-zookeeper gives up after two thirds of its timeout")
		_, _, err = other.Get("/")
		require.NoError(t, err)
		c.await(t, zk.StateHasSession)
		require.Equal(t, id, c.SessionID(), "new connections work, and it came back in time")
		require.Equal(t, 2, srv.Stats().Connections, "it has given up the black hole")
		require.False(t, srv.Session(1).Blackhole())
	})
}

// The client of a black hole must not see that the server has ended its
// session.
func TestPartitionHidesExpiry(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *client) {
		srv.BlackholeAll()
		require.True(t, srv.Session(c.SessionID()).Expire())
		synctest.Wait()
		require.Equal(t, zk.StateHasSession, c.State())
		require.Equal(t, 1, srv.Stats().Connections)
		srv.Heal()
		c.await(t, zk.StateExpired)
	})
}
