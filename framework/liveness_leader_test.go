package framework_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// leaderLoss is a session whose server leads the ensemble and is cut off from
// the others. They have another leader at once, because they are started again,
// while the old one does not notice for the sync limit.
type leaderLoss struct {
	ens    *zktest.Ensemble
	old    *zktest.Member
	node   framework.Created // of the session
	others *framework.Client // connected to the others
}

// onLeaderLoss runs a test in virtual time, up to the moment before the cut.
func onLeaderLoss(t *testing.T, phase time.Duration, test func(t *testing.T, d leaderLoss), opts ...framework.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := leaderLoss{ens: zktest.StartEnsemble(t, 3, zkinside.With(zkinside.Settings{Tick: 2 * time.Second, SyncLimit: 20}).(zktest.Option))}
		d.old = d.ens.Leader()
		connect := func(address string, opts ...framework.Option) *framework.Client {
			opts = append(opts, framework.WithDialer(d.ens.Dialer()), framework.WithSessionTimeout(sessionTimeout))
			c, err := framework.New(address, opts...)
			require.NoError(t, err)
			t.Cleanup(func() { c.Close() })
			return c
		}
		d.node = mustCreate(t, connect(d.old.Addr(), opts...), "/n", "", framework.WithMode(framework.Ephemeral))
		d.others = connect(d.ens.Members()[0].Addr() + "," + d.ens.Members()[1].Addr())
		time.Sleep(time.Minute + phase)
		require.NoError(t, d.node.Session.Context().Err(), "a healthy session lives")
		test(t, d)
	})
}

// isolateLeader cuts the leader off and returns how long it takes until the
// next one gives the node away, and until the session's context has ended.
func (d leaderLoss) isolateLeader(t *testing.T) (given, ended time.Duration) {
	t.Helper()
	cut := time.Now()
	d.ens.Partition(d.old)
	for _, m := range d.ens.Members()[:2] {
		m.Stop()
		m.Restart()
	}
	require.NoError(t, d.ens.WaitFor(t.Context(), func() bool { return d.ens.Leader() != nil }))
	there, _, gone, err := d.others.ExistsW(t.Context(), "/n")
	require.NoError(t, err)
	require.True(t, there)
	done := make(chan struct{})
	go func() {
		defer close(done)
		<-d.node.Session.Context().Done()
		ended = time.Since(cut)
	}()
	<-gone.Done()
	given = time.Since(cut)
	require.Equal(t, "leader", d.old.Stats().Mode, "as far as it knows")
	<-done
	return given, ended
}

// A leader that was deposed answers pings, reads and syncs until it notices.
// The next one gives every session its full timeout and then its nodes away.
// Whether the session is given up by then is what strict contact decides, at
// every phase.
func TestStrictContactEndsTheSessionOfADeposedLeaderInTime(t *testing.T) {
	for phase := range 20 {
		onLeaderLoss(t, time.Duration(phase)*731*time.Millisecond, func(t *testing.T, d leaderLoss) {
			given, ended := d.isolateLeader(t)
			require.Less(t, ended, given)
		}, framework.WithStrictContact())
	}
}

// Writes are slow where disks are. The age of the last contact that strict
// contact confirms is bounded by half of the timeout and three round trips.
func TestStrictContactKeepsASessionWhoseWritesAreSlow(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		slow := sessionTimeout * 12 / 100
		for _, op := range []zktest.Op{zktest.OpSync, zktest.OpMulti} {
			srv.Inject(zktest.Rule{Optional: true, Op: op, Times: -1, Do: zktest.DelayReply(slow)})
		}
		c := newClient(t, srv, framework.WithStrictContact())
		s, err := c.Session(t.Context())
		require.NoError(t, err)
		time.Sleep(time.Hour)
		require.NoError(t, s.Context().Err())

		cut := time.Now()
		srv.BlackholeAll()
		<-s.Context().Done()
		require.Greater(t, time.Since(cut), trusted-sessionTimeout/2-3*slow)
	})
}

// A check that is refused is a transaction like one that is not.
func TestStrictContactNeedsNoRightsOnTheRoot(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c := newClient(t, srv, framework.WithStrictContact())
		require.NoError(t, c.AddAuth(t.Context(), "digest", []byte("u:p")))
		_, err := c.SetACL(t.Context(), "/", zk.DigestACL(zk.PermAll, "somebody", "else"), framework.AnyVersion)
		require.NoError(t, err)
		s, err := c.Session(t.Context())
		require.NoError(t, err)
		time.Sleep(time.Hour)
		require.NoError(t, s.Context().Err())
		require.NotZero(t, srv.CountRequests(zktest.OpMulti))
	})
}
