package framework_test

import (
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/testing/zktest"
)

func TestMultiReadHasEachNode(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c, err := framework.New(srv.Addr()+"/app", framework.WithDialer(srv.Dialer()))
		require.NoError(t, err)
		defer c.Close()
		view, err := c.Namespace("/n")
		require.NoError(t, err)
		mustCreate(t, view, "/a", "of a")
		mustCreate(t, view, "/b", "")
		mustCreate(t, view, "/secret", "", framework.WithACL(zk.DigestACL(zk.PermAll, "user", "password")))
		nodes, zxid, err := insider.Of(view).MultiRead(t.Context(), "/b", "/gone", "/secret", "/a")
		require.NoError(t, err)
		require.Len(t, nodes, 4)
		require.NoError(t, nodes[0].Err)
		require.Empty(t, nodes[0].Data)
		require.ErrorIs(t, nodes[1].Err, zk.ErrNoNode)
		require.Nil(t, nodes[1].Stat)
		require.ErrorIs(t, nodes[2].Err, zk.ErrNoAuth)
		require.NoError(t, nodes[3].Err)
		require.Equal(t, "of a", string(nodes[3].Data))
		want, _ := srv.Node("/app/n/a")
		require.Equal(t, want.Stat.Czxid, nodes[3].Stat.Czxid)
		require.Equal(t, srv.Stats().Zxid, zxid)
	})
}
