package framework_test

import (
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

func TestOrSetCreatesOrWrites(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		made := mustCreate(t, c, "/n", "one", framework.WithOverwrite(7))
		require.Equal(t, "/n", made.Path)
		written := mustCreate(t, c, "/n", "two", framework.WithOverwrite(0))
		require.Equal(t, "/n", written.Path)
		require.Equal(t, made.Czxid, written.Czxid, "the node is still the one that was made first")
		require.Equal(t, c.SessionID(), written.Session.ID())
		require.Zero(t, made.Version)
		require.EqualValues(t, 1, written.Version)
		_, err := c.Create(t.Context(), "/n", []byte("three"), framework.WithOverwrite(0))
		require.ErrorIs(t, err, zk.ErrBadVersion)
		require.NotErrorIs(t, err, framework.ErrOutcomeUnknown)
		mustCreate(t, c, "/n", "four", framework.WithOverwrite(framework.AnyVersion))
		node, _ := srv.Node("/n")
		require.Equal(t, "four", string(node.Data))
		require.EqualValues(t, 2, node.Stat.Version)
	})
}

func TestOrSetWritesTheRootAndMakesParents(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		n := mustCreate(t, c, "/", "data", framework.WithOverwrite(framework.AnyVersion))
		require.Equal(t, "/", n.Path)
		node, _ := srv.Node("/")
		require.Equal(t, "data", string(node.Data))
		mustCreate(t, c, "/a/b", "", framework.WithOverwrite(framework.AnyVersion), framework.WithParents())
		require.Equal(t, []string{"b"}, srv.Children("/a"))
	})
}

// The node that is there when the call creates is gone when it writes.
func TestOrSetSurvivesNodesThatVanish(t *testing.T) {
	for _, times := range []int{1, 5} {
		bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
			srv.Inject(zktest.Rule{Op: zktest.OpCreate, Path: "/n", Times: times, Do: zktest.All(
				zktest.Call(func(zktest.Request) { srv.Create("/n", nil) }),
				zktest.CallAfter(func(zktest.Request) { srv.Delete("/n") }))})
			mustCreate(t, c, "/n", "ours", framework.WithOverwrite(framework.AnyVersion))
			node, _ := srv.Node("/n")
			require.Equal(t, "ours", string(node.Data))
		})
	}
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		inj := srv.Inject(zktest.Rule{Op: zktest.OpCreate, Path: "/n", Times: -1, Do: zktest.All(
			zktest.Call(func(zktest.Request) { srv.Create("/n", nil) }),
			zktest.CallAfter(func(zktest.Request) { srv.Delete("/n") }))})
		_, err := c.Create(t.Context(), "/n", nil, framework.WithOverwrite(framework.AnyVersion))
		require.ErrorIs(t, err, zk.ErrNoNode)
		require.Equal(t, 6, inj.Hits(), "it does not go on for ever")
	})
}

func TestIdempotentCreateAcceptsAnUntouchedEqual(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		made := mustCreate(t, another(t, srv), "/n", "same")
		n := mustCreate(t, c, "/n", "same", framework.WithIdempotence())
		require.Equal(t, made.Czxid, n.Czxid)
		_, err := c.Create(t.Context(), "/n", []byte("other"), framework.WithIdempotence())
		require.ErrorIs(t, err, zk.ErrNodeExists)
		require.NotErrorIs(t, err, framework.ErrOutcomeUnknown)
		require.NoError(t, srv.Set("/n", []byte("same")))
		_, err = c.Create(t.Context(), "/n", []byte("same"), framework.WithIdempotence())
		require.ErrorIs(t, err, zk.ErrNodeExists, "it was written since")
	})
}
