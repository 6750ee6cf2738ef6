package framework_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

func TestSiblingsComeInTheSameRoundTrip(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		for _, op := range []zktest.Op{zktest.OpCreate, zktest.OpGetChildren} {
			srv.Inject(zktest.Rule{Op: op, Times: 10, Do: zktest.DelayReply(time.Second)})
		}
		mustCreate(t, c, "/p", "")
		begin := time.Now()
		a := mustCreate(t, c, "/p/a", "", framework.WithSiblings())
		require.Equal(t, time.Second, time.Since(begin))
		require.Equal(t, []string{"a"}, a.Siblings)
		b := mustCreate(t, c, "/p/b", "", framework.WithSiblings(), framework.WithProtection(), framework.WithParents())
		require.Len(t, b.Siblings, 2)
		require.Nil(t, mustCreate(t, c, "/p/c", "").Siblings)
		d := mustCreate(t, c, "/new/deep/d", "", framework.WithSiblings(), framework.WithParents())
		require.Equal(t, []string{"d"}, d.Siblings)
	})
}

// That the siblings cannot be had is no failure of the creation, and takes
// nothing from its guarantees.
func TestSiblingsThatCannotBeHad(t *testing.T) {
	for name, do := range map[string]zktest.Action{
		"refused": zktest.Fail(zktest.ErrNoAuth), "request lost": zktest.DropRequest(), "reply lost": zktest.DropReply(), "mute": zktest.Blackhole(),
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				srv.Inject(zktest.Rule{Op: zktest.OpGetChildren, Times: 1, Do: do})
				n := mustCreate(t, c, "/n-", "", framework.WithSiblings(), framework.WithProtection())
				require.Nil(t, n.Siblings)
				require.Equal(t, 1, srv.CountRequests(zktest.OpCreate))
			})
		})
	}
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		srv.Inject(zktest.Rule{Op: zktest.OpCreate, Times: 1, Do: zktest.DropReply()})
		n := mustCreate(t, c, "/n-", "", framework.WithSiblings(), framework.WithProtection())
		require.Len(t, srv.Children("/"), 2, "one node, and /zookeeper")
		require.NotEmpty(t, n.Path)
		_, err := c.Transaction(t.Context(), framework.CreateOp("/x", nil, framework.WithSiblings()))
		require.ErrorIs(t, err, zk.ErrBadArguments)
	})
}

// One request lists several nodes. What is wrong with one is about that one alone,
// and the nodes of callers who have gone count as gone, as in Siblings.
func TestSiblingsOfSeveralNodes(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c := newClient(t, srv)
		view, err := c.Namespace("/n")
		require.NoError(t, err)
		for _, path := range []string{"/a", "/a/1", "/a/2", "/empty"} {
			mustCreate(t, view, path, "")
		}
		mustCreate(t, view, "/secret", "", framework.WithACL(zk.DigestACL(zk.PermAll, "user", "password")))
		srv.Inject(zktest.Rule{Op: zktest.OpCreate, Path: "/n/a/_c_*", Do: zktest.DelayReply(time.Second)})
		srv.Inject(zktest.Rule{Op: zktest.OpDelete, Path: "/n/a/_c_*", Do: zktest.Fail(zktest.ErrSystem)})
		_, err = view.Create(within(t, time.Millisecond), "/a/gone-", nil, framework.WithMode(framework.EphemeralSequential), framework.WithProtection())
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Len(t, srv.Children("/n/a"), 3)
		synctest.Wait() // its deletion has begun, and is refused
		srv.ClearRequests()
		all, err := framework.Extend(view).MultiSiblings(t.Context(), "/a", "/none", "/secret", "/empty")
		require.NoError(t, err)
		require.Equal(t, 1, srv.CountRequests(zktest.OpMultiRead))
		require.Zero(t, srv.CountRequests(zktest.OpGetChildren))
		require.Len(t, all, 4)
		slices.Sort(all[0].Names)
		require.Equal(t, []string{"1", "2"}, all[0].Names)
		require.ErrorIs(t, all[1].Err, zk.ErrNoNode)
		require.Nil(t, all[1].Names)
		require.ErrorIs(t, all[2].Err, zk.ErrNoAuth)
		require.NoError(t, all[3].Err)
		require.Empty(t, all[3].Names)
		require.NotNil(t, all[3].Names)

		_, err = framework.Extend(view).MultiSiblings(t.Context())
		require.ErrorIs(t, err, zk.ErrBadArguments)
		_, err = framework.Extend(view).MultiSiblings(t.Context(), "/a", "b")
		require.ErrorIs(t, err, zk.ErrInvalidPath)
	})
}
