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

// Promise: A transaction creates or writes the node of a CreateOp WithOverwrite, tells the
// version, and does all or nothing.
func TestTransactionCreatesOrWrites(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		upsert := func(path, data string) framework.TxnOp {
			return framework.CreateOp(path, []byte(data), framework.WithOverwrite(framework.AnyVersion), framework.WithParents())
		}
		mustCreate(t, c, "/a", "old")
		results, err := c.Transaction(t.Context(), upsert("/a", "1"), upsert("/dir/b", "1"), upsert("/dir/b", "2"), upsert("/", "root"))
		require.NoError(t, err)
		require.Equal(t, []string{"set", "create", "set", "set"}, []string{results[0].Op, results[1].Op, results[2].Op, results[3].Op})
		require.EqualValues(t, 1, results[0].Stat.Version)
		require.Nil(t, results[1].Stat)
		require.EqualValues(t, 1, results[2].Stat.Version)
		for path, want := range map[string]string{"/a": "1", "/dir/b": "2", "/": "root"} {
			node, _ := srv.Node(path)
			require.Equal(t, want, string(node.Data), path)
		}

		ofVersion := framework.CreateOp("/a", []byte("2"), framework.WithOverwrite(7))
		_, err = c.Transaction(t.Context(), upsert("/new", ""), ofVersion)
		var failed *framework.TxnError
		require.ErrorAs(t, err, &failed)
		require.ErrorIs(t, err, zk.ErrBadVersion)
		require.Equal(t, 1, failed.Index)
		require.Equal(t, "/a", failed.Path)
		require.NotErrorIs(t, err, framework.ErrOutcomeUnknown)
		require.NotContains(t, srv.Children("/"), "new")
		_, err = c.Transaction(t.Context(), upsert("/", ""), framework.CreateOp("/s", nil, framework.WithOverwrite(0), framework.WithMode(framework.Ephemeral)))
		require.ErrorIs(t, err, zk.ErrBadArguments)
	})
}

// Promise: A transaction of creates WithOverwrite of AnyVersion whose reply is lost is
// repeated. With a version, its outcome is unknown.
func TestLostTransactionThatOverwrites(t *testing.T) {
	for _, exists := range []bool{false, true} {
		for version, unknown := range map[int32]bool{framework.AnyVersion: false, 0: true} {
			bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				fence := mustCreate(t, c, "/fence", "")
				after := 0
				if exists {
					mustCreate(t, c, "/n", "old")
					after = 1 // the first try finds the node
				}
				srv.Inject(zktest.Rule{Optional: true, Op: zktest.OpMulti, After: after, Do: zktest.DropReply()})
				results, err := c.Transaction(t.Context(), framework.CheckOp(fence.Path, 0),
					framework.CreateOp("/n", []byte("new"), framework.WithOverwrite(version)))
				require.Equal(t, unknown, err != nil)
				if unknown {
					require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
					return
				}
				require.Equal(t, "set", results[1].Op, "the first one was applied")
				node, _ := srv.Node("/n")
				require.Equal(t, "new", string(node.Data))
				require.Equal(t, node.Stat.Version, results[1].Stat.Version)
			})
		}
	}
}

// The node vanishes each time that it is to be written, and is there each time that it
// is to be created.
func TestTransactionDoesNotOverwriteForEver(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		tries := 0
		srv.Inject(zktest.Rule{Op: zktest.OpMulti, Times: -1, Do: zktest.Call(func(zktest.Request) {
			if tries++; tries%2 == 1 {
				srv.Create("/n", nil)
			} else {
				srv.Delete("/n")
			}
		})})
		_, err := c.Transaction(t.Context(), framework.CreateOp("/n", nil, framework.WithOverwrite(framework.AnyVersion)))
		require.Error(t, err)
		require.NotErrorIs(t, err, framework.ErrOutcomeUnknown)
		require.Less(t, tries, 10)
	})
}
