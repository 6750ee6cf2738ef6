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

// Without a version, the node has the data in the end, whatever is lost. A call
// with a version is made once.
func TestOrSetWhoseReplyIsLost(t *testing.T) {
	for _, exists := range []bool{false, true} {
		for _, version := range []int32{0, framework.AnyVersion} {
			for _, op := range []zktest.Op{zktest.OpCreate, zktest.OpSetData} {
				for _, fault := range []zktest.Action{zktest.DropRequest(), zktest.DropReply()} {
					for _, with := range breakages {
						bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
							if exists {
								mustCreate(t, c, "/n", "old")
							}
							inj := srv.Inject(zktest.Rule{Op: op, Do: with(srv, c.SessionID(), fault)})
							n, err := c.Create(t.Context(), "/n", []byte("new"), framework.WithOverwrite(version))
							if version == 0 && inj.Hits() > 0 {
								require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
								return
							}
							require.NoError(t, err)
							node, _ := srv.Node("/n")
							require.Equal(t, "new", string(node.Data))
							require.Equal(t, node.Stat.Czxid, n.Czxid)
							require.Equal(t, node.Stat.Version, n.Version)
						})
					}
				}
			}
		}
	}
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

func TestIdempotentCreateWhoseReplyIsLost(t *testing.T) {
	for _, fault := range []zktest.Action{zktest.DropRequest(), zktest.DropReply()} {
		for _, with := range breakages {
			bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: with(srv, c.SessionID(), fault)})
				n := mustCreate(t, c, "/n", "same", framework.WithIdempotence())
				node, _ := srv.Node("/n")
				require.Equal(t, node.Stat.Czxid, n.Czxid)
			})
		}
	}
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.All(zktest.DropReply(),
			zktest.CallAfter(func(zktest.Request) { srv.Set("/n", []byte("theirs")) }))})
		_, err := c.Create(t.Context(), "/n", []byte("ours"), framework.WithIdempotence())
		require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
	})
}

func TestCombinationsOfCreateOptionsThatMakeNoSense(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		for _, tc := range []struct {
			opts []framework.CreateOption
			want error
			text string
		}{
			{[]framework.CreateOption{framework.WithOverwrite(0), framework.WithProtection()}, zk.ErrBadArguments, "WithOverwrite and WithProtection"},
			{[]framework.CreateOption{framework.WithOverwrite(0), framework.WithMode(framework.PersistentSequential)}, zk.ErrBadArguments, "WithOverwrite with a sequential"},
			{[]framework.CreateOption{framework.WithOverwrite(0), framework.WithMode(framework.Ephemeral)}, zk.ErrBadArguments, "WithOverwrite with an ephemeral"},
			{[]framework.CreateOption{framework.WithOverwrite(0), framework.WithIdempotence()}, zk.ErrBadArguments, "WithOverwrite and WithIdempotence"},
			{[]framework.CreateOption{framework.WithIdempotence(), framework.WithProtection()}, zk.ErrBadArguments, "WithIdempotence and WithProtection"},
			{[]framework.CreateOption{framework.WithIdempotence(), framework.WithMode(framework.EphemeralSequential)}, zk.ErrBadArguments, "WithIdempotence with a sequential"},
			{[]framework.CreateOption{framework.WithIdempotence(), framework.WithMode(framework.Ephemeral)}, zk.ErrBadArguments, "WithIdempotence with an ephemeral"},
			{[]framework.CreateOption{framework.WithParentACL(zk.WorldACL(1))}, zk.ErrBadArguments, "without WithParents"},
			{[]framework.CreateOption{framework.WithParentACL(nil), framework.WithParents()}, zk.ErrInvalidACL, "parents"},
		} {
			_, err := c.Create(t.Context(), "/n", nil, tc.opts...)
			require.ErrorIs(t, err, tc.want)
			require.ErrorContains(t, err, tc.text)
		}
		require.Empty(t, ops(srv), "nothing was sent")
	})
}
