package zktest_test

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// The defaults of an ensemble.
const (
	tick         = 100 * time.Millisecond
	electionTime = 200 * time.Millisecond
)

func TestLeaderStops(t *testing.T) {
	inEnsemble(t, func(t *testing.T, ens *zktest.Ensemble) {
		old := ens.Leader()
		c := connectToAll(t, ens, ens.Members()[0], 9*time.Second)
		id := c.SessionID()
		_, err := c.Create("/e", nil, zk.FlagEphemeral, open)
		require.NoError(t, err)
		time.Sleep(2 * time.Second)
		old.Stop()
		require.Nil(t, ens.Leader())
		require.Zero(t, ens.Members()[0].Stats().Connections, "members without a leader drop their clients")
		start := time.Now()
		leader := awaitLeader(t, ens)
		require.Equal(t, electionTime, time.Since(start))
		require.Equal(t, 2, leader.ID())
		require.EqualValues(t, 2, time.Until(ens.Leader().Sessions()[0].Deadline)/(4500*time.Millisecond), "a new leader gives every session its full timeout")
		c.await(t, zk.StateHasSession)
		require.Equal(t, id, c.SessionID())
		require.NoError(t, c.Delete("/e", -1))
		require.EqualValues(t, 2, leader.Stats().Zxid>>32)
		require.True(t, has(old, "/e"), "a process that is down learns nothing")
		old.Restart()
		require.Equal(t, "follower", old.Stats().Mode)
		require.False(t, has(old, "/e"))
		require.Equal(t, leader.Stats().Zxid, old.Stats().Zxid)
	})
}

func TestWithoutAMajorityNothingServes(t *testing.T) {
	inEnsemble(t, func(t *testing.T, ens *zktest.Ensemble) {
		c := connectToAll(t, ens, ens.Leader(), 9*time.Second)
		ens.Members()[0].Stop()
		require.NotNil(t, ens.Leader())
		ens.Members()[1].Stop()
		require.Nil(t, ens.Leader())
		c.await(t, zk.StateDisconnected)
		nc, err := ens.Members()[2].Dialer()(t.Context(), "tcp", "")
		require.NoError(t, err, "the process is there")
		_, err = nc.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF)
		nc.Close()
		time.Sleep(time.Hour)
		require.Len(t, ens.Members()[2].Sessions(), 1, "and nobody expires")
		require.ErrorIs(t, ens.Members()[2].Create("/a", nil), zktest.ErrConnectionLoss)
		require.False(t, ens.Members()[2].Session(c.SessionID()).Expire())
		ens.Members()[0].Restart()
		c.await(t, zk.StateHasSession)
		require.NotNil(t, ens.Leader())
	})
}

func TestClientThatHasSeenMoreIsRefusedByALaggingMember(t *testing.T) {
	inEnsemble(t, func(t *testing.T, ens *zktest.Ensemble) {
		late := ens.Members()[0]
		late.Lag(forever)
		c := connectToAll(t, ens, ens.Leader(), 9*time.Second)
		_, err := c.Create("/a", nil, 0, open)
		require.NoError(t, err)
		id := c.SessionID()
		require.True(t, zkinside.Of(ens).MoveSession(id, late.ID()))
		c.await(t, zk.StateDisconnected)
		time.Sleep(3 * time.Second)
		require.Zero(t, zkinside.Of(ens).MemberOf(id))
		require.NotZero(t, late.CountRequests(zktest.OpConnect), "it has tried")
		late.Lag(0)
		c.await(t, zk.StateHasSession)
		require.Equal(t, late.ID(), zkinside.Of(ens).MemberOf(id))
	})
}

func TestPartitionedLeader(t *testing.T) {
	inEnsemble(t, func(t *testing.T, ens *zktest.Ensemble) {
		old := ens.Leader()
		c := connectTo(t, old, 9*time.Second)
		_, err := c.Create("/a", []byte("old"), 0, open)
		require.NoError(t, err)
		start := time.Now()
		ens.Partition(ens.Members()[0], ens.Members()[1])
		_, _, err = c.Get("/a")
		require.NoError(t, err, "the old leader still answers reads")
		leader := awaitLeader(t, ens)
		require.Equal(t, 500*time.Millisecond+electionTime, time.Since(start))
		require.Equal(t, 2, leader.ID())
		require.Equal(t, "looking", old.Stats().Mode)
		require.NoError(t, leader.Set("/a", []byte("new")))
		ens.Heal()
		require.Equal(t, "follower", old.Stats().Mode)
		node, _ := old.Node("/a")
		require.Equal(t, "new", string(node.Data))
		c.await(t, zk.StateHasSession)
	})
}

// With a tick longer than an election, two members lead for a moment. Only one
// can write.
func TestOldLeaderServesStaleReadsBesideTheNewOne(t *testing.T) {
	inEnsemble(t, func(t *testing.T, ens *zktest.Ensemble) {
		old := ens.Leader()
		c := connectTo(t, old, 9*time.Second)
		require.NoError(t, old.Create("/a", []byte("old")))
		ens.Partition(old)
		leader := awaitLeader(t, ens)
		require.NoError(t, leader.Set("/a", []byte("new")))
		require.Equal(t, "leader", old.Stats().Mode)
		data, _, err := c.Get("/a")
		require.NoError(t, err)
		require.Equal(t, "old", string(data))
		require.ErrorIs(t, old.Set("/a", nil), zktest.ErrConnectionLoss)
		ens.Heal()
		require.Equal(t, "follower", old.Stats().Mode)
	}, zkinside.With(zkinside.Settings{Tick: time.Second}).(zktest.Option))
}

// Members that are restarted do not wait for the sync limit. The old leader,
// which is cut off from them, does, and its clients stay: a session can be over
// meanwhile.
func TestOldLeaderKeepsAClientWhoseSessionIsOver(t *testing.T) {
	inEnsemble(t, func(t *testing.T, ens *zktest.Ensemble) {
		old := ens.Leader()
		c := connectTo(t, old, 3*time.Second)
		createEphemeral(t, c, "/e")
		ens.Partition(old)
		start := time.Now()
		for _, m := range ens.Followers() {
			m.Stop()
			m.Restart()
		}
		leader := awaitLeader(t, ens)
		require.Equal(t, electionTime, time.Since(start))
		require.NoError(t, leader.WaitFor(t.Context(), func() bool { _, found := leader.Node("/e"); return !found }))
		require.Less(t, time.Since(start), 4*time.Second)
		time.Sleep(2 * time.Second) // which include pings
		_, _, err := c.Get("/e")
		require.NoError(t, err)
		require.Equal(t, "leader", old.Stats().Mode)
		ens.Heal()
	}, zkinside.With(zkinside.Settings{SyncLimit: 100}).(zktest.Option))
}

// A leader need not ask anybody to answer a sync. So its answer says nothing
// about who leads.
func TestOldLeaderAnswersSyncsBesideTheNewOne(t *testing.T) {
	inEnsemble(t, func(t *testing.T, ens *zktest.Ensemble) {
		old := ens.Leader()
		c := connectTo(t, old, 9*time.Second)
		id := c.SessionID()
		ens.Partition(old)
		for _, m := range ens.Members()[:2] { // they notice at once
			m.Stop()
			m.Restart()
		}
		leader := awaitLeader(t, ens)
		require.True(t, leader.Session(id).Expire())
		require.Equal(t, "leader", old.Stats().Mode)
		_, err := c.Sync("/")
		require.NoError(t, err)

		done := make(chan error, 1)
		go func() {
			_, err := c.Multi(&zk.CheckVersionRequest{Path: "/", Version: -1})
			done <- err
		}()
		synctest.Wait()
		require.Empty(t, done, "a transaction needs a majority")
		ens.Heal()
		require.Error(t, <-done)
	}, zkinside.With(zkinside.Settings{Tick: time.Second}).(zktest.Option))
}

func TestResign(t *testing.T) {
	inEnsemble(t, func(t *testing.T, ens *zktest.Ensemble) {
		c := connectToAll(t, ens, ens.Members()[0], 9*time.Second)
		require.False(t, zkinside.Of(ens.Members()[0]).Resign())
		require.True(t, zkinside.Of(ens.Leader()).Resign())
		leader := awaitLeader(t, ens)
		require.Equal(t, 2, leader.ID())
		c.await(t, zk.StateHasSession)
		require.Len(t, leader.Sessions(), 1)
		require.True(t, zkinside.Of(leader).Resign())
		leader = awaitLeader(t, ens)
		require.Equal(t, 3, leader.ID())
	})
}

func TestPausedLeader(t *testing.T) {
	for _, tc := range []struct {
		name   string
		paused time.Duration
		after  string
	}{{"shorter than the sync limit", 400 * time.Millisecond, "leader"}, {"longer", 2 * time.Second, "follower"}} {
		t.Run(tc.name, func(t *testing.T) {
			inEnsemble(t, func(t *testing.T, ens *zktest.Ensemble) {
				leader := ens.Leader()
				c := connectTo(t, leader, 9*time.Second)
				leader.Pause()
				start := time.Now()
				time.AfterFunc(tc.paused, func() { _ = leader.Resume() })
				_, _, _ = c.Get("/")
				require.Equal(t, tc.paused, time.Since(start))
				require.Equal(t, tc.after, leader.Stats().Mode)
				if tc.after == "follower" {
					c.await(t, zk.StateHasSession)
				}
				_, err := c.Create("/a", nil, 0, open)
				require.NoError(t, err)
			})
		})
	}
}
