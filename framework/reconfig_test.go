package framework_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

func member(id int64, host string) framework.Member {
	return framework.Member{
		ID: id, Addresses: []framework.MemberAddress{{Host: host, QuorumPort: 2888, ElectionPort: 3888}},
		Role: "participant", Client: "0.0.0.0:2181",
	}
}

func TestConfigIsReadPastTheChroot(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c, err := framework.New(srv.Addr()+"/app", framework.WithDialer(srv.Dialer()))
		require.NoError(t, err)
		defer c.Close()
		require.NoError(t, srv.Set("/zookeeper/config", []byte("server.1=zk1:2888:3888:participant;0.0.0.0:2181\nversion=1f")))
		config, err := c.Config(t.Context())
		require.NoError(t, err)
		require.Equal(t, framework.EnsembleConfig{Members: []framework.Member{member(1, "zk1")}, Version: 0x1f}, config)
	})
}

func TestReconfigThatIsRefused(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		leave := framework.EnsembleChange{Leaving: []int64{3}}
		_, err := c.Reconfig(t.Context(), leave, framework.AnyConfig)
		require.ErrorIs(t, err, zk.ErrReconfigDisabled)
		for code, want := range map[zktest.Code]error{
			-6: framework.ErrStandalone, -13: framework.ErrNoQuorum, -14: framework.ErrReconfigInProgress,
			-102: zk.ErrNoAuth, -103: zk.ErrBadVersion,
		} {
			srv.Inject(zktest.Rule{Op: zktest.OpReconfig, Do: zktest.Fail(code)})
			_, err := c.Reconfig(t.Context(), leave, framework.AnyConfig)
			require.ErrorIs(t, err, want)
			require.NotErrorIs(t, err, framework.ErrOutcomeUnknown)
		}
		srv.ClearRequests()
		for _, change := range []framework.EnsembleChange{
			{}, {Leaving: []int64{1}, Members: []framework.Member{member(1, "zk1")}}, {Joining: []framework.Member{{ID: 1}}},
		} {
			_, err := c.Reconfig(t.Context(), change, framework.AnyConfig)
			require.ErrorIs(t, err, zk.ErrBadArguments)
		}
		require.Empty(t, ops(srv), "nothing was sent")
	})
}

// The server here knows no reconfiguration; what it would have done is done by
// hand.
func TestReconfigWhoseReplyIsLost(t *testing.T) {
	const before = "server.1=zk1:2888:3888:participant;0.0.0.0:2181\nserver.2=zk2:2888:3888:participant;0.0.0.0:2181\nversion=10"
	change := framework.EnsembleChange{Joining: []framework.Member{member(3, "zk3")}, Leaving: []int64{2}}
	for name, tc := range map[string]struct {
		after   string
		version int64
		want    error
	}{
		"applied":               {"server.1=zk1:2888:3888:participant;0.0.0.0:2181\nserver.3=zk3:2888:3888:participant;0.0.0.0:2181\nversion=11", 0x10, nil},
		"not applied":           {before, 0x10, zk.ErrReconfigDisabled},
		"somebody else's":       {"server.1=zk1:2888:3888:participant;0.0.0.0:2181\nversion=11", 0x10, framework.ErrOutcomeUnknown},
		"of no version":         {"server.3=zk3:2888:3888:participant;0.0.0.0:2181\nversion=11", framework.AnyConfig, framework.ErrOutcomeUnknown},
		"leaving still there":   {"server.2=zk2:2888:3888:participant\nserver.3=zk3:2888:3888:participant\nversion=11", 0x10, framework.ErrOutcomeUnknown},
		"joined somewhere else": {"server.3=other:2888:3888:participant\nversion=11", 0x10, framework.ErrOutcomeUnknown},
	} {
		for _, with := range breakages {
			bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				require.NoError(t, srv.Set("/zookeeper/config", []byte(before)))
				srv.Inject(zktest.Rule{Op: zktest.OpReconfig, Do: zktest.All(
					zktest.Call(func(zktest.Request) { srv.Set("/zookeeper/config", []byte(tc.after)) }),
					with(srv, c.SessionID(), zktest.DropRequest()))})
				config, err := c.Reconfig(t.Context(), change, tc.version)
				if tc.want != nil {
					require.ErrorIs(t, err, tc.want, name)
					return
				}
				require.NoError(t, err, name)
				require.EqualValues(t, 0x11, config.Version)
				require.Equal(t, 1, srv.CountRequests(zktest.OpReconfig))
			})
		}
	}
}

func TestReconfigThatIsCancelledIsOfUnknownOutcome(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		for _, version := range []int64{3, framework.AnyConfig} {
			srv.Inject(zktest.Rule{Op: zktest.OpReconfig, Do: zktest.DelayReply(4 * time.Second)})
			_, err := c.Reconfig(within(t, time.Second), framework.EnsembleChange{Leaving: []int64{2}}, version)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
		}
		time.Sleep(time.Minute)
		srv.Inject(zktest.Rule{Op: zktest.OpReconfig, Do: zktest.DropRequest()})
		srv.Inject(zktest.Rule{Op: zktest.OpMulti, Do: zktest.DelayReply(4 * time.Second)})
		_, err := c.Reconfig(within(t, 2*time.Second), framework.EnsembleChange{Leaving: []int64{2}}, 3)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, framework.ErrOutcomeUnknown, "while it is found out")
	})
}
