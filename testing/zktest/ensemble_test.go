package zktest_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// inEnsemble runs a test of three members in virtual time.
func inEnsemble(t *testing.T, test func(t *testing.T, ens *zktest.Ensemble), opts ...zktest.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, zktest.StartEnsemble(t, 3, opts...)) })
}

// connectTo returns a client that knows one member only.
func connectTo(t *testing.T, m *zktest.Member, timeout time.Duration) *client {
	t.Helper()
	return connectVia(t, m.Server, zkDialer(m.Dialer()), timeout)
}

// connectToAll returns a client that knows every member and is connected to
// one.
func connectToAll(t *testing.T, ens *zktest.Ensemble, first *zktest.Member, timeout time.Duration) *client {
	t.Helper()
	c := &client{change: make(chan struct{})}
	conn, events, err := zk.Connect(strings.Split(ens.ConnectString(), ","), timeout,
		zk.WithDialer(zkDialer(ens.Dialer())), zk.WithLogger(silent{}), zk.WithEventCallback(c.record))
	require.NoError(t, err)
	c.Conn = conn
	t.Cleanup(func() {
		conn.Close()
		for range events { // closed when the last goroutine of the client ends
		}
	})
	c.await(t, zk.StateHasSession)
	require.True(t, zkinside.Of(ens).MoveSession(c.SessionID(), first.ID()))
	c.await(t, zk.StateHasSession)
	require.Equal(t, first.ID(), zkinside.Of(ens).MemberOf(c.SessionID()))
	return c
}

// has reports whether a member knows a node.
func has(m *zktest.Member, path string) bool {
	_, found := m.Node(path)
	return found
}

func TestMembersShareOneHistory(t *testing.T) {
	inEnsemble(t, func(t *testing.T, ens *zktest.Ensemble) {
		require.Equal(t, 3, ens.Leader().ID(), "the highest number wins, as with ZooKeeper")
		require.Len(t, ens.Followers(), 2)
		var clients []*client
		for _, m := range ens.Members() {
			clients = append(clients, connectTo(t, m, 9*time.Second))
		}
		_, _, events, err := clients[0].ExistsW("/a")
		require.NoError(t, err)
		_, err = clients[1].Create("/a", []byte("x"), zk.FlagEphemeral, open)
		require.NoError(t, err)
		require.Equal(t, zk.EventNodeCreated, (<-events).Type)
		_, err = clients[2].Set("/a", []byte("y"), 0)
		require.NoError(t, err)
		_, err = clients[0].SetACL("/a", zk.WorldACL(zk.PermRead), 0)
		require.NoError(t, err)
		_, err = clients[0].Multi(&zk.CreateRequest{Path: "/p", Acl: open}, &zk.CreateRequest{Path: "/p/s-", Flags: zk.FlagSequence, Acl: open})
		require.NoError(t, err)
		_, err = clients[1].Multi(&zk.CreateRequest{Path: "/q", Acl: open}, &zk.DeleteRequest{Path: "/missing"})
		require.Error(t, err)
		require.NoError(t, zkinside.Of(ens.Members()[0]).SetSequence("/p", 41))
		path, err := clients[2].Create("/p/s-", nil, zk.FlagSequence, open)
		require.NoError(t, err)
		require.Equal(t, "/p/s-0000000041", path)
		requireSame(t, ens)
		require.NoError(t, zkinside.Of(ens.Members()[0]).SetSequence("/p", 1<<31-1))
		_, err = clients[0].Multi(
			&zk.CreateRequest{Path: "/p/a-", Flags: zk.FlagSequence, Acl: open},
			&zk.CreateRequest{Path: "/p/b-", Flags: zk.FlagSequence, Acl: open})
		require.NoError(t, err)
		require.Equal(t, []string{"a-2147483647", "b--2147483648", "s-0000000000", "s-0000000041"}, ens.Members()[1].Children("/p"))
		requireSame(t, ens)
		clients[1].Close()
		requireSame(t, ens)
		require.Len(t, ens.Members()[0].Tree(), 5, "the ephemeral node went with its session")
	})
}

func requireSame(t *testing.T, ens *zktest.Ensemble) {
	t.Helper()
	first := ens.Members()[0]
	for _, m := range ens.Members() {
		require.Equal(t, first.Tree(), m.Tree())
		require.Equal(t, first.Stats().Zxid, m.Stats().Zxid)
		require.EqualValues(t, 1, m.Stats().Zxid>>32, "the epoch is in the upper half")
		require.Len(t, m.Sessions(), len(first.Sessions()))
	}
}

func TestLaggingFollower(t *testing.T) {
	inEnsemble(t, func(t *testing.T, ens *zktest.Ensemble) {
		late := ens.Members()[0]
		here, there := connectTo(t, late, 9*time.Second), connectTo(t, ens.Leader(), 9*time.Second)
		_, _, events, err := here.ExistsW("/a")
		require.NoError(t, err)
		late.Lag(time.Second)
		start := time.Now()
		_, err = there.Create("/a", nil, 0, open)
		require.NoError(t, err)
		require.Zero(t, time.Since(start))
		found, _, err := here.Exists("/a")
		require.NoError(t, err)
		require.False(t, found, "a read is answered from what the member has applied")
		_, err = here.Sync("/")
		require.NoError(t, err)
		require.Equal(t, time.Second, time.Since(start), "a sync waits for the member to catch up")
		require.Equal(t, zk.EventNodeCreated, (<-events).Type)
		require.True(t, has(late, "/a"))

		start = time.Now()
		_, err = here.Create("/b", nil, 0, open)
		require.NoError(t, err)
		require.Equal(t, time.Second, time.Since(start), "so does the answer to a write")
		node, _ := late.Node("/b")
		log := late.Requests()
		require.Equal(t, node.Stat.Czxid, log[len(log)-1].Zxid)
	})
}

func TestMemberStandsStillUntilTold(t *testing.T) {
	inEnsemble(t, func(t *testing.T, ens *zktest.Ensemble) {
		late := ens.Members()[1]
		c := connectTo(t, late, 9*time.Second)
		late.Lag(forever)
		require.NoError(t, ens.Leader().Create("/a", nil))
		synced := make(chan time.Time, 1)
		go func() {
			_, _ = c.Sync("/")
			synced <- time.Now()
		}()
		time.Sleep(5 * time.Second) // and not for longer than the client puts up with
		require.False(t, has(late, "/a"))
		require.Empty(t, synced)
		late.Lag(0)
		require.True(t, has(late, "/a"))
		require.Equal(t, time.Now(), <-synced)
	})
}

// An answered ping is no proof that the session lives.
func TestCutFollowerAnswersPingsOfASessionThatIsOver(t *testing.T) {
	inEnsemble(t, func(t *testing.T, ens *zktest.Ensemble) {
		follower := ens.Members()[0]
		c := connectTo(t, follower, time.Second)
		_, err := c.Create("/lock", nil, zk.FlagEphemeral, open)
		require.NoError(t, err)
		start := time.Now()
		ens.Partition(follower)
		require.NoError(t, ens.WaitFor(t.Context(), func() bool { return !has(ens.Leader(), "/lock") }))
		givenAway := time.Since(start)
		require.LessOrEqual(t, givenAway, time.Second+500*time.Millisecond)
		pings := follower.CountRequests(zkinside.OpPing)
		require.Equal(t, zk.StateHasSession, c.State())
		require.Empty(t, ens.Leader().Sessions())
		require.Equal(t, 1, ens.Leader().Stats().Expired)
		require.Zero(t, follower.Stats().Expired)
		time.Sleep(800 * time.Millisecond)
		require.Greater(t, follower.CountRequests(zkinside.OpPing), pings, "pings still come")
		require.Equal(t, zk.StateHasSession, c.State(), "and are answered")
		data, _, err := c.Get("/lock")
		require.NoError(t, err, "what has been given away is still there to see")
		require.Empty(t, data)
		require.NoError(t, ens.WaitFor(t.Context(), func() bool { return follower.Stats().Mode == "looking" }))
		require.Equal(t, 2500*time.Millisecond, time.Since(start), "until the sync limit")
		ens.Heal()
		c.await(t, zk.StateExpired)
	}, zkinside.With(zkinside.Settings{Tick: 500 * time.Millisecond}).(zktest.Option))
}

func TestSessionMovesAwayFromACutFollower(t *testing.T) {
	inEnsemble(t, func(t *testing.T, ens *zktest.Ensemble) {
		follower := ens.Members()[0]
		c := connectToAll(t, ens, follower, 9*time.Second)
		id := c.SessionID()
		_, err := c.Create("/e", nil, zk.FlagEphemeral, open)
		require.NoError(t, err)
		ens.Partition(follower)
		c.await(t, zk.StateHasSession)
		require.Equal(t, id, c.SessionID())
		require.NotEqual(t, follower.ID(), zkinside.Of(ens).MemberOf(id))
		require.Equal(t, "looking", follower.Stats().Mode)
		require.True(t, has(ens.Leader(), "/e"))
		ens.Heal()
		require.Equal(t, "follower", follower.Stats().Mode)
		require.Equal(t, ens.Leader().Tree(), follower.Tree())
	})
}

func TestWriteThroughACutFollowerWaits(t *testing.T) {
	for _, tc := range []struct {
		name   string
		cut    time.Duration
		answer error
	}{{"healed in time", 400 * time.Millisecond, nil}, {"dropped", time.Second, zk.ErrConnectionClosed}} {
		t.Run(tc.name, func(t *testing.T) {
			inEnsemble(t, func(t *testing.T, ens *zktest.Ensemble) {
				c := connectTo(t, ens.Members()[0], 9*time.Second)
				ens.Partition(ens.Members()[0])
				require.ErrorIs(t, ens.Members()[0].Create("/x", nil), zktest.ErrConnectionLoss)
				require.NoError(t, ens.Leader().Create("/b", nil))
				time.AfterFunc(tc.cut, ens.Heal)
				start := time.Now()
				_, err := c.Create("/a", nil, 0, open)
				require.ErrorIs(t, err, tc.answer)
				require.Equal(t, min(tc.cut, 500*time.Millisecond), time.Since(start))
				require.Equal(t, tc.answer == nil, has(ens.Leader(), "/a"))
				time.Sleep(time.Second)
				require.True(t, has(ens.Members()[0], "/b"), "what it has missed has arrived")
			})
		})
	}
}

// The leader has made the transaction; the follower that was to answer did not
// learn of it.
func TestAnswerLostBetweenLeaderAndFollower(t *testing.T) {
	inEnsemble(t, func(t *testing.T, ens *zktest.Ensemble) {
		follower := ens.Members()[0]
		c := connectTo(t, follower, 9*time.Second)
		follower.Lag(forever)
		inj := follower.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.DelayRequest(0)})
		go func() {
			<-inj.Done()
			synctest.Wait()
			ens.Partition(follower)
		}()
		_, err := c.Create("/a", nil, 0, open)
		require.ErrorIs(t, err, zk.ErrConnectionClosed)
		require.True(t, has(ens.Leader(), "/a"))
	})
}
