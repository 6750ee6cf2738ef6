package framework_test

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

func TestSiblingsComeInTheSameRoundTrip(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		for _, op := range []zktest.Op{zktest.OpCreate, zktest.OpGetChildren} {
			srv.Inject(zktest.Rule{Optional: true, Op: op, Times: 10, Do: zktest.DelayReply(time.Second)})
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
