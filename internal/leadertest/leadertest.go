// Package leadertest has an ensemble whose leader misleads its clients. Only
// tests import it.
package leadertest

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// LostReply is a client of an ensemble. Its next write is applied, but not
// answered. The client then comes to a leader that has not applied the write,
// but answers the client's syncs.
type LostReply struct {
	Ens    *zktest.Ensemble
	Client *framework.Client
	Front  *zktest.Member // the member that applies the write; the client begins there
	Behind *zktest.Member // the leader that has not applied it

	t    *testing.T
	lost atomic.Bool
}

// behind are the two kinds of such leaders, each with the function that creates the
// situation.
var behind = map[string]func(l *LostReply){
	"a leader that lags": func(l *LostReply) {
		l.Behind, l.Front = l.Ens.Leader(), l.Ens.Members()[0]
		require.NoError(l.t, l.Behind.Lag(2*time.Second))
	},
	"a leader that was deposed": func(l *LostReply) {
		l.Behind = l.Ens.Leader()
		require.NoError(l.t, l.Ens.Partition(l.Behind))
		for _, m := range l.Ens.Followers() {
			if m != l.Behind {
				require.NoError(l.t, m.Restart())
			}
		}
		require.NoError(l.t, l.Ens.WaitFor(l.t.Context(), func() bool { return l.Ens.Leader() != nil }))
		l.Front = l.Ens.Leader()
	},
}

// AtEach runs a test in virtual time with each kind of leader. Before that, the client
// prepares what the test needs.
func AtEach(t *testing.T, prepare func(t *testing.T, c *framework.Client), test func(t *testing.T, l *LostReply)) {
	t.Helper()
	for name, begin := range behind {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &LostReply{t: t,
					Ens: zktest.StartEnsemble(t, 3, zkinside.With(zkinside.Settings{SyncLimit: 80}).(zktest.Option))}
				var err error
				l.Client, err = framework.New(l.Ens.ConnectString(),
					framework.WithDialer(l.Ens.Dialer()), framework.WithSessionTimeout(9*time.Second),
					framework.WithACLProvider(func(string) []zk.ACL { return l.beforeCreate() }))
				require.NoError(t, err)
				t.Cleanup(func() { require.NoError(t, l.Client.Close()) })
				prepare(t, l.Client)
				begin(l)
				l.Move(l.Front)
				test(t, l)
				l.Ens.Heal()
			})
		})
	}
}

// Move brings the client to a member.
func (l *LostReply) Move(to *zktest.Member) {
	l.t.Helper()
	ens, session := zkinside.Of(l.Ens), l.Client.SessionID()
	require.True(l.t, ens.MoveSession(session, to.ID()))
	require.NoError(l.t, l.Ens.WaitFor(l.t.Context(), func() bool { return ens.MemberOf(session) == to.ID() }))
	require.NoError(l.t, l.Client.WaitConnected(l.t.Context()))
}

// Lose loses the reply to the client's next request of the kind. The client sends its
// following requests to the leader that is behind.
func (l *LostReply) Lose(op zktest.Op) {
	session := l.Client.SessionID()
	l.Ens.Inject(zktest.Rule{Optional: true, Op: op, Session: session, Do: zktest.All(
		zktest.CallAfter(func(zktest.Request) {
			zkinside.Of(l.Ens).MoveSession(session, l.Behind.ID())
			l.lost.Store(true)
		}), zktest.DropReply())})
}

// beforeCreate is the ACL provider. If a create is repeated, the client has looked for
// the first node and believes that it was not created. beforeCreate then moves the
// client back to the front.
func (l *LostReply) beforeCreate() []zk.ACL {
	if l.lost.Load() {
		l.Move(l.Front)
	}
	return zk.WorldACL(zk.PermAll)
}

// Nodes returns the children of a node once the members agree.
func (l *LostReply) Nodes(parent string) []string {
	l.t.Helper()
	time.Sleep(20 * time.Second)
	l.Ens.Heal()
	require.NoError(l.t, zkinside.Of(l.Ens).AwaitAgreement(l.t.Context()))
	return l.Front.Children(parent)
}

// Creates returns how many nodes the servers were asked to create. A client that misses
// its own node asks for a second one, which may be gone by the time of a check.
func (l *LostReply) Creates() (n int) {
	for _, r := range zkinside.Of(l.Ens).AllRequests().([]zktest.Request) {
		if r.Op == zktest.OpCreate {
			n++
		}
	}
	return n
}
