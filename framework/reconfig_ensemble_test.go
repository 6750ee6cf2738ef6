package framework_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// requireReconfigurations changes the members of an ensemble of three, real or not.
func requireReconfigurations(t *testing.T, c *framework.Client) {
	t.Helper()
	ctx := within(t, time.Minute)
	before, err := c.Config(ctx)
	require.NoError(t, err)
	require.Len(t, before.Members, 3)
	require.Empty(t, before.Other)
	require.Equal(t, "participant", before.Members[0].Role)

	_, err = c.Reconfig(ctx, framework.EnsembleChange{Leaving: []int64{3}}, before.Version+1)
	require.ErrorIs(t, err, zk.ErrBadVersion)
	after, err := c.Reconfig(ctx, framework.EnsembleChange{Leaving: []int64{3}}, before.Version)
	require.NoError(t, err)
	require.Len(t, after.Members, 2)
	require.Greater(t, after.Version, before.Version)
	now, err := c.Config(ctx)
	require.NoError(t, err)
	require.Equal(t, after, now)

	dead := func(id int64) framework.Member {
		address := framework.MemberAddress{Host: "127.0.0.1", QuorumPort: 1, ElectionPort: 2}
		return framework.Member{ID: id, Addresses: []framework.MemberAddress{address}, Client: "127.0.0.1:3"}
	}
	_, err = c.Reconfig(ctx, framework.EnsembleChange{Joining: []framework.Member{dead(8), dead(9)}}, after.Version)
	require.ErrorIs(t, err, framework.ErrNoQuorum)
	now, err = c.Reconfig(ctx, framework.EnsembleChange{Members: append(after.Members, dead(7))}, after.Version)
	require.NoError(t, err, "the full list")
	require.Len(t, now.Members, 3)
}

// Member 3 leads: its removal takes an election, while the client goes on.
func TestEnsembleReconfig(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ens := zktest.StartEnsemble(t, 3, zktest.WithReconfig(), zktest.WithSuperUser("super:secret"))
		c, err := framework.New(ens.ConnectString(), framework.WithDialer(ens.Dialer()),
			framework.WithAuth("digest", []byte("super:secret")))
		require.NoError(t, err)
		defer c.Close()
		requireReconfigurations(t, c)
	})
}
