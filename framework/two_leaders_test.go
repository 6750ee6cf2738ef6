package framework_test

import (
	"context"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/leadertest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// A sync is no barrier at a leader: it answers its own clients at once. What
// they read then may be older than a write of theirs whose reply was lost. So no
// operation decides by that.

// atLeadersThatAreBehind runs a test with a client that has made /n.
func atLeadersThatAreBehind(t *testing.T, test func(t *testing.T, l *leadertest.LostReply)) {
	t.Helper()
	leadertest.AtEach(t, func(t *testing.T, c *framework.Client) { mustCreate(t, c, "/n", "old") }, test)
}

// Promise: A leader that lags does not mislead the look-up after a lost reply.
func TestLeaderThatIsBehindHidesNoProtectedNode(t *testing.T) {
	atLeadersThatAreBehind(t, func(t *testing.T, l *leadertest.LostReply) {
		l.Lose(zktest.OpCreate)
		before := l.Creates()
		n, err := l.Client.Create(t.Context(), "/n/lock-", nil,
			framework.WithMode(framework.EphemeralSequential), framework.WithProtection())
		require.NoError(t, err)
		require.Equal(t, 1, l.Creates()-before)
		require.Equal(t, []string{strings.TrimPrefix(n.Path, "/n/")}, l.Nodes("/n"))
	})
}

// Promise: The clean-up of an abandoned create finds its node even if the leader has not applied it yet.
func TestLeaderThatIsBehindHidesNoNodeFromTheCleanUp(t *testing.T) {
	atLeadersThatAreBehind(t, func(t *testing.T, l *leadertest.LostReply) {
		l.Lose(zktest.OpCreate)
		ctx, cancel := context.WithCancel(t.Context())
		l.Ens.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.CallAfter(func(zktest.Request) { cancel() })})
		_, err := l.Client.Create(ctx, "/n/lock-", nil,
			framework.WithMode(framework.EphemeralSequential), framework.WithProtection())
		require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
		require.Empty(t, l.Nodes("/n"))
	})
}

// Promise: A read after SyncQuorum sees every write that was acknowledged before.
func TestSyncQuorumIsABarrierAtALeaderThatIsBehind(t *testing.T) {
	atLeadersThatAreBehind(t, func(t *testing.T, l *leadertest.LostReply) {
		require.NoError(t, l.Front.Set("/n", []byte("new")))
		l.Move(l.Behind)
		read := func(sync func() error) string {
			require.NoError(t, sync())
			data, _, err := l.Client.Get(t.Context(), "/n")
			require.NoError(t, err)
			return string(data)
		}
		require.Equal(t, "old", read(func() error { return l.Client.Sync(t.Context(), "/n") }))
		require.Equal(t, "new", read(func() error { return l.Client.SyncQuorum(t.Context()) }))
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

// A transaction of a session that is over, or elsewhere, proves nothing.
func TestSyncQuorumThatIsNotCommittedIsTriedAgain(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		inj := srv.Inject(zktest.Rule{Op: zktest.OpMulti, Times: 2, Do: zktest.Fail(zkinside.ErrThrottled)})
		require.NoError(t, c.SyncQuorum(t.Context()))
		require.Equal(t, 2, inj.Hits())
		srv.Inject(zktest.Rule{Op: zktest.OpMulti, Times: -1, Do: zktest.Fail(zkinside.ErrSystem)})
		require.Error(t, c.SyncQuorum(t.Context()))
	})
}
