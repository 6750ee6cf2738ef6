package framework_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// A sync is no barrier at a leader: it answers its own clients at once. What
// they read then may be older than a write of theirs whose reply was lost. So no
// operation decides by that.

// lostReply is a client of an ensemble whose next write is applied, but not
// answered. The client comes to a leader then that has not applied it.
type lostReply struct {
	ens    *zktest.Ensemble
	client *framework.Client
	front  *zktest.Member // where the write is applied
	behind *zktest.Member // that leader
	lost   atomic.Bool
}

// behindLeaders are the leaders that are behind, each with what makes it so.
var behindLeaders = map[string]func(t *testing.T, l *lostReply){
	"lags": func(t *testing.T, l *lostReply) {
		l.behind, l.front = l.ens.Leader(), l.ens.Members()[0]
		require.NoError(t, l.behind.Lag(2*time.Second))
	},
	"deposed": func(t *testing.T, l *lostReply) {
		l.behind = l.ens.Leader()
		require.NoError(t, l.ens.Partition(l.behind))
		for _, m := range l.ens.Members()[:2] {
			require.NoError(t, m.Restart())
		}
		var err error
		l.front, err = l.ens.WaitLeader(t.Context())
		require.NoError(t, err)
	},
}

// moveToFront brings the client to where writes are applied.
func (l *lostReply) moveToFront(t *testing.T) {
	t.Helper()
	session := l.ens.Session(l.client.SessionID())
	require.True(t, session.MoveTo(l.front))
	require.NoError(t, l.ens.WaitFor(t.Context(), func() bool { return session.Member() == l.front }))
	synctest.Wait()
}

// atBehindLeaders runs a test with each leader that is behind. The client has
// nodes /n and /e.
func atBehindLeaders(t *testing.T, test func(t *testing.T, l *lostReply), opts ...zktest.Option) {
	t.Helper()
	for name, cut := range behindLeaders {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &lostReply{ens: zktest.StartEnsemble(t, 3, append(opts, zktest.WithSyncLimit(80))...)}
				c, err := framework.New(l.ens.ConnectString(),
					framework.WithDialer(l.ens.Dialer()), framework.WithSessionTimeout(sessionTimeout),
					framework.WithACLProvider(func(string) []zk.ACL { return l.beforeCreate(t) }))
				require.NoError(t, err)
				t.Cleanup(func() { require.NoError(t, c.Close()) })
				l.client = c
				mustCreate(t, c, "/n", "old")
				cut(t, l)
				l.moveToFront(t)
				test(t, l)
				l.ens.Heal()
			})
		})
	}
}

// lose loses the reply to the next request of the kind. What the client asks for
// next, it asks the leader that is behind.
func (l *lostReply) lose(op zktest.Op) {
	session := l.ens.Session(l.client.SessionID())
	l.ens.Inject(zktest.Rule{Op: op, Session: session.ID(), Do: zktest.All(
		zktest.CallAfter(func(zktest.Request) {
			session.MoveTo(l.behind)
			l.lost.Store(true)
		}), zktest.DropReply())})
}

// beforeCreate is the ACL provider. If a create is made again, the client has
// asked what has become of the first, and believes that it was not applied. Then
// it comes back.
func (l *lostReply) beforeCreate(t *testing.T) []zk.ACL {
	if l.lost.Load() {
		l.moveToFront(t)
	}
	return zk.WorldACL(zk.PermAll)
}

func TestLeaderThatIsBehindGivesNoVerdict(t *testing.T) {
	for name, tc := range map[string]struct {
		op    zktest.Op
		write func(ctx context.Context, c *framework.Client) error
	}{
		"set version": {zktest.OpSetData, func(ctx context.Context, c *framework.Client) error {
			stat, err := c.Set(ctx, "/n", []byte("new"), 0)
			if err == nil && stat.Version != 1 {
				return zk.ErrBadVersion
			}
			return err
		}},
		"setACL version": {zktest.OpSetACL, func(ctx context.Context, c *framework.Client) error {
			_, err := c.SetACL(ctx, "/n", zk.WorldACL(zk.PermAll&^zk.PermDelete), 0)
			return err
		}},
		"create ephemeral": {zktest.OpCreate, func(ctx context.Context, c *framework.Client) error {
			_, err := c.Create(ctx, "/e", nil, framework.WithMode(framework.Ephemeral))
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			atBehindLeaders(t, func(t *testing.T, l *lostReply) {
				l.lose(tc.op)
				require.NoError(t, tc.write(t.Context(), l.client))
			})
		})
	}
}

func TestLeaderThatIsBehindGivesNoVerdictOnATransaction(t *testing.T) {
	atBehindLeaders(t, func(t *testing.T, l *lostReply) {
		l.lose(zktest.OpMulti)
		results, err := l.client.Transaction(t.Context(),
			framework.SetOp("/n", []byte("new"), 0), framework.CreateOp("/n/new", nil))
		require.NoError(t, err)
		require.EqualValues(t, 1, results[0].Stat.Version)
	})
}

func TestLeaderThatIsBehindHidesNoProtectedNode(t *testing.T) {
	atBehindLeaders(t, func(t *testing.T, l *lostReply) {
		l.lose(zktest.OpCreate)
		n, err := l.client.Create(t.Context(), "/n/lock-", nil,
			framework.WithMode(framework.EphemeralSequential), framework.Protected())
		require.NoError(t, err)
		require.Contains(t, n.Path, "0000000000")
		l.ens.Heal()
		require.NoError(t, l.ens.WaitAgreement(t.Context()))
		require.Len(t, l.behind.Children("/n"), 1)
	})
}

func TestLeaderThatIsBehindHidesNoNodeFromTheCleanUp(t *testing.T) {
	atBehindLeaders(t, func(t *testing.T, l *lostReply) {
		l.lose(zktest.OpCreate)
		ctx, cancel := context.WithCancel(t.Context())
		l.ens.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.CallAfter(func(zktest.Request) { cancel() })})
		_, err := l.client.Create(ctx, "/n/lock-", nil,
			framework.WithMode(framework.EphemeralSequential), framework.Protected())
		require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
		time.Sleep(20 * time.Second)
		l.ens.Heal()
		require.NoError(t, l.ens.WaitAgreement(t.Context()))
		require.Empty(t, l.behind.Children("/n"))
	})
}

func TestSyncQuorumIsABarrierAtALeaderThatIsBehind(t *testing.T) {
	atBehindLeaders(t, func(t *testing.T, l *lostReply) {
		require.NoError(t, l.ens.Session(l.client.SessionID()).Member().Set("/n", []byte("new")))
		session := l.ens.Session(l.client.SessionID())
		require.True(t, session.MoveTo(l.behind))
		require.NoError(t, l.ens.WaitFor(t.Context(), func() bool { return session.Member() == l.behind }))
		require.NoError(t, l.client.WaitConnected(t.Context()))

		read := func(sync func() error) string {
			require.NoError(t, sync())
			data, _, err := l.client.Get(t.Context(), "/n")
			require.NoError(t, err)
			return string(data)
		}
		require.Equal(t, "old", read(func() error { return l.client.Sync(t.Context(), "/n") }))
		require.Equal(t, "new", read(func() error { return l.client.SyncQuorum(t.Context()) }))
	})
}

func TestSyncQuorumNeedsNoRights(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		require.NoError(t, c.AddAuth(t.Context(), "digest", []byte("u:p")))
		_, err := c.SetACL(t.Context(), "/", zk.DigestACL(zk.PermAll, "somebody", "else"), framework.AnyVersion)
		require.NoError(t, err)
		require.NoError(t, c.SyncQuorum(t.Context()))
	})
}

func TestQuorumSyncIsForEachSync(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c := newClient(t, srv, framework.WithQuorumSync())
		require.NoError(t, c.Sync(t.Context(), "/"))
		require.Equal(t, []zktest.Op{zktest.OpMulti}, ops(srv))
	})
}

// A transaction of a session that is over, or elsewhere, proves nothing.
func TestSyncQuorumThatIsNotCommittedIsTriedAgain(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		inj := srv.Inject(zktest.Rule{Op: zktest.OpMulti, Times: 2, Do: zktest.Fail(zktest.ErrThrottled)})
		require.NoError(t, c.SyncQuorum(t.Context()))
		require.Equal(t, 2, inj.Hits())
		srv.Inject(zktest.Rule{Op: zktest.OpMulti, Times: -1, Do: zktest.Fail(zktest.ErrSystem)})
		require.Error(t, c.SyncQuorum(t.Context()))
	})
}
