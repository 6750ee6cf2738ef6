package zktest_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// onHost runs a test of a client on its own host and of another one that
// is not. Each has an ephemeral node, /host and /other, and a session of 9 s.
func onHost(t *testing.T, test func(t *testing.T, srv *zktest.Server, host *zktest.Host, c, other *client)) {
	t.Helper()
	bubble(t, func(t *testing.T, srv *zktest.Server, other *client) {
		host := srv.NewHost()
		c := connectVia(t, srv, zkDialer(host.Dialer()), 9*time.Second)
		createEphemeral(t, c, "/host")
		createEphemeral(t, other, "/other")
		test(t, srv, host, c, other)
	})
}

func createEphemeral(t *testing.T, c *client, path string) {
	t.Helper()
	_, err := c.Create(path, nil, zk.FlagEphemeral, open)
	require.NoError(t, err)
}

func TestHostDisconnect(t *testing.T) {
	onHost(t, func(t *testing.T, srv *zktest.Server, host *zktest.Host, c, other *client) {
		start := time.Now()
		host.Disconnect()
		c.await(t, zk.StateDisconnected)
		require.Zero(t, time.Since(start), "the client knows at once")
		_, err := host.Dialer()(t.Context(), "tcp", srv.Addr())
		require.ErrorIs(t, err, syscall.EHOSTUNREACH)
		time.Sleep(20 * time.Second)
		require.Empty(t, srv.Children("/host"))
		require.Len(t, srv.Sessions(), 1, "it could not come back")

		host.Heal()
		c.await(t, zk.StateExpired)
		c.await(t, zk.StateHasSession)
		_, _, err = other.Get("/other")
		require.NoError(t, err)
	})
}

func TestHostIsolate(t *testing.T) {
	onHost(t, func(t *testing.T, srv *zktest.Server, host *zktest.Host, c, other *client) {
		start := time.Now()
		host.Isolate()
		srv.Heal() // which is about other faults
		c.await(t, zk.StateDisconnected)
		require.Equal(t, 6*time.Second, time.Since(start), "the client knows by its own clock only")
		require.NoError(t, srv.WaitFor(t.Context(), func() bool { _, found := srv.Node("/host"); return !found }))
		require.Equal(t, 9*time.Second, time.Since(start), "and the server by its own")
		time.Sleep(20 * time.Second)
		srv.Stop() // nothing tells the client
		nc, err := host.Dialer()(t.Context(), "tcp", srv.Addr())
		require.NoError(t, err)
		defer nc.Close()
		srv.Restart()
		require.Len(t, srv.Sessions(), 1, "new connections are dead, too")

		start = time.Now()
		host.Heal()
		c.await(t, zk.StateExpired)
		c.await(t, zk.StateHasSession)
		require.Less(t, time.Since(start), 3*time.Second, "the black hole ends with a reset")
		_, err = nc.Read(make([]byte, 1))
		require.ErrorIs(t, err, syscall.ECONNRESET)
		_, _, err = other.Get("/other")
		require.NoError(t, err)
	})
}

// In production the old holder has had its time to stop before anybody takes
// over.
func TestHostLosesItsSessionAsInProduction(t *testing.T) {
	onHost(t, func(t *testing.T, srv *zktest.Server, host *zktest.Host, c, other *client) {
		gone := watchDeletion(t, other, "/host")
		start := time.Now()
		require.True(t, host.LoseSessions())
		c.await(t, zk.StateDisconnected)
		require.Equal(t, 6*time.Second, time.Since(start))
		<-gone
		require.Equal(t, 9*time.Second, time.Since(start))
		c.await(t, zk.StateExpired)
		c.await(t, zk.StateHasSession)
		createEphemeral(t, c, "/host")
		require.Less(t, time.Since(start), 12*time.Second, "healed by itself")
		require.Len(t, srv.Sessions(), 2)
		require.Equal(t, 1, srv.Stats().Expired)
	})
}

func watchDeletion(t *testing.T, c *client, path string) <-chan zk.Event {
	t.Helper()
	_, _, events, err := c.ExistsW(path)
	require.NoError(t, err)
	return events
}

func TestHostSuspend(t *testing.T) {
	onHost(t, func(t *testing.T, srv *zktest.Server, host *zktest.Host, c, other *client) {
		before := srv.Sessions()
		host.Suspend(5 * time.Second)
		after := srv.Sessions()
		require.Equal(t, before[0], after[0], "other hosts were awake")
		require.Equal(t, before[1].Deadline.Add(-5*time.Second), after[1].Deadline)

		start := time.Now()
		host.Suspend(time.Hour)
		require.Empty(t, srv.Children("/host"))
		require.Len(t, srv.Sessions(), 1)
		require.Equal(t, time.Hour+5*time.Second, zkinside.Suspended(host)())
		c.await(t, zk.StateExpired)
		require.Less(t, time.Since(start), 2*time.Second)
		_, _, err := other.Get("/other")
		require.NoError(t, err)
	})
}

func TestHostInAnEnsemble(t *testing.T) {
	inEnsemble(t, func(t *testing.T, ens *zktest.Ensemble) {
		host := ens.NewHost()
		other := connectToAll(t, ens, ens.Members()[1], 9*time.Second)
		c := connectToHost(t, ens, host, ens.Members()[0])
		createEphemeral(t, c, "/host")
		gone := watchDeletion(t, other, "/host")
		start := time.Now()
		require.True(t, host.LoseSessions())
		<-gone
		require.InDelta(t, 9, time.Since(start).Seconds(), 0.2, "to a tick")
		c.await(t, zk.StateExpired)
		c.await(t, zk.StateHasSession)

		host.Disconnect()
		_, err := host.Dialer()(t.Context(), "tcp", ens.Members()[2].Addr())
		require.ErrorIs(t, err, syscall.EHOSTUNREACH)
		host.Heal()
		_, err = host.Dialer()(t.Context(), "tcp", "127.0.0.1:99")
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
		c.await(t, zk.StateHasSession)

		createEphemeral(t, c, "/host")
		gone = watchDeletion(t, other, "/host")
		start = time.Now()
		host.Suspend(9*time.Second + tick)
		<-gone
		require.Zero(t, time.Since(start), "although a follower has just heard of it")
		c.await(t, zk.StateExpired)
	})
}

// connectToHost returns a client on a host that has dialed that member first.
func connectToHost(t *testing.T, ens *zktest.Ensemble, host *zktest.Host, first *zktest.Member) *client {
	t.Helper()
	c := connectVia(t, first.Server, zkDialer(host.Dialer()), 9*time.Second)
	require.Equal(t, first.ID(), zkinside.Of(ens).MemberOf(c.SessionID()))
	return c
}
