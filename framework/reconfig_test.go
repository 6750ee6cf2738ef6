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

func TestReconfigThatIsCancelledOrLostIsOfUnknownOutcome(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		for _, version := range []int64{3, framework.AnyConfig} {
			srv.Inject(zktest.Rule{Op: zktest.OpReconfig, Do: zktest.DelayReply(4 * time.Second)})
			_, err := c.Reconfig(within(t, time.Second), framework.EnsembleChange{Leaving: []int64{2}}, version)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
		}
		time.Sleep(time.Minute)
		srv.ClearRequests()
		srv.Inject(zktest.Rule{Op: zktest.OpReconfig, Do: zktest.DropRequest()})
		_, err := c.Reconfig(t.Context(), framework.EnsembleChange{Leaving: []int64{2}}, 3)
		require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
		require.Equal(t, 1, srv.CountRequests(zktest.OpAny))
	})
}
