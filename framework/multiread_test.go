package framework_test

import (
	"bytes"
	"testing"
	"testing/synctest"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/zkinside"
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

// A node that is missing has no value, whatever follows it in the answer, and
// however ClickHouse Keeper writes that down. Values of any length follow.
func TestMultiReadOfMissingNodesOnClickHouseKeeper(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t, zkinside.With(zkinside.Settings{ClickHouseKeeper: true}).(zktest.Option))
		c := newClient(t, srv)
		require.NoError(t, srv.Create("/d/n", nil))
		for size := range 300 {
			require.NoError(t, srv.Set("/d/n", bytes.Repeat([]byte("v"), size)))
			for _, names := range []string{"xn", "nx", "xy", "xnn", "nxn", "xyn"} {
				var paths []string
				for _, name := range names {
					paths = append(paths, "/d/"+string(name))
				}
				nodes, _, err := insider.Of(c).MultiRead(t.Context(), paths...)
				require.NoError(t, err)
				for i, n := range nodes {
					if paths[i] != "/d/n" {
						require.Equal(t, insider.NodeRead{Err: zk.ErrNoNode}, n)
						continue
					}
					require.NoError(t, n.Err)
					require.Len(t, n.Data, size)
				}
			}
		}
	})
}
