package framework_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// protectedOps makes n protected nodes.
func protectedOps(path string, n int) (ops []framework.TxnOp) {
	for range n {
		ops = append(ops, framework.CreateOp(path, nil,
			framework.WithMode(framework.EphemeralSequential), framework.WithProtection(), framework.WithParents()))
	}
	return ops
}

// takeTurn makes n protected nodes in the place of /n.
func takeTurn(n int) []framework.TxnOp {
	return append(protectedOps("/l/lease-", n), framework.DeleteOp("/n", framework.AnyVersion))
}

func TestTransactionMakesProtectedNodesAndTheirParents(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		mustCreate(t, c, "/n", "")
		results, err := c.Transaction(t.Context(), takeTurn(2)...)
		require.NoError(t, err)
		for i := range 2 {
			require.Regexp(t, fmt.Sprintf(`^/l/_c_[0-9a-f-]{36}-lease-000000000%d$`, i), results[i].Path)
			node, ok := srv.Node(results[i].Path)
			require.True(t, ok)
			require.Equal(t, results[0].Zxid, node.Stat.Czxid)
		}
		require.NotEqual(t, results[0].Path[:40], results[1].Path[:40], "each has an id of its own")
		_, err = c.Transaction(t.Context(), takeTurn(2)...)
		require.ErrorIs(t, err, zk.ErrNoNode)
		require.Len(t, srv.Children("/l"), 2)
	})
}

// Whatever is lost, the caller has the nodes that the results name, and no others are
// left.
func TestTransactionWithProtectedNodesIsFoundOutByTheirNames(t *testing.T) {
	eachLoss(t, func() []framework.TxnOp { return takeTurn(3) },
		func(t *testing.T, srv *zktest.Server, c *framework.Client, loss string, results []framework.TxnResult, err error) {
			if strings.HasSuffix(loss, "same session") {
				require.NoError(t, err, loss)
			}
			if err != nil {
				require.ErrorIs(t, err, framework.ErrOutcomeUnknown, loss)
				time.Sleep(time.Minute)
				require.Empty(t, srv.Children("/l"), loss)
				return
			}
			_, gateIsThere := srv.Node("/n")
			require.False(t, gateIsThere, loss)
			require.Len(t, srv.Children("/l"), 3, loss)
			for _, r := range results[:3] {
				node, ok := srv.Node(r.Path)
				require.True(t, ok, "%s: %s", loss, r.Path)
				require.Equal(t, node.Stat.Czxid, r.Zxid)
				require.Equal(t, c.SessionID(), node.Stat.EphemeralOwner)
			}
		})
}

// Somebody deletes one of the nodes before the client has found out that they
// were made. The rest is deleted.
//
// Promise: A transaction whose reply was lost is not reported as applied if one of its protected nodes is gone.
func TestTransactionWithAProtectedNodeThatIsGoneIsOfUnknownOutcome(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		mustCreate(t, c, "/n", "")
		mustCreate(t, c, "/l", "")
		srv.Inject(zktest.Rule{Op: zktest.OpMulti, Do: zktest.DropReply()})
		srv.Inject(zktest.Rule{Op: zktest.OpMulti, After: 1, Do: zktest.Call(func(zktest.Request) {
			require.NoError(t, srv.Delete("/l/"+srv.Children("/l")[1]))
		})})
		_, err := c.Transaction(t.Context(), takeTurn(3)...)
		require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
		require.ErrorContains(t, err, "is gone")
		time.Sleep(time.Minute)
		require.Empty(t, srv.Children("/l"))
	})
}

// The reply is lost, and the client finds the protected node. Another client deletes the
// node before the client has read its Stat.
//
// Promise: A transaction whose only protected node another client has deleted is repeated.
func TestTransactionWhoseProtectedNodeIsDeletedDuringTheLookUpIsRepeated(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		mustCreate(t, c, "/n", "")
		mustCreate(t, c, "/l", "")
		srv.Inject(zktest.Rule{Op: zktest.OpMulti, Do: zktest.DropReply()})
		srv.Inject(zktest.Rule{Op: zktest.OpExists, Do: zktest.Call(func(r zktest.Request) {
			require.NoError(t, srv.Delete(r.Path))
		})})
		results, err := c.Transaction(t.Context(), framework.CheckOp("/n", framework.AnyVersion),
			framework.CreateOp("/l/node", nil, framework.WithMode(framework.Ephemeral), framework.WithProtection()))
		require.NoError(t, err)
		require.Equal(t, []string{strings.TrimPrefix(results[1].Path, "/l/")}, srv.Children("/l"))
	})
}

// The caller goes before the answer comes. The client deletes the nodes, whether
// the answer comes late or is lost.
//
// Promise: The protected nodes of a transaction are deleted if its caller gave up.
func TestProtectedNodesOfATransactionWhoseCallerHasGoneAreDeleted(t *testing.T) {
	for name, fault := range map[string]zktest.Action{
		"late": zktest.DelayReply(3 * time.Second), "request late": zktest.DelayRequest(3 * time.Second),
		"lost": zktest.All(zktest.DelayRequest(3*time.Second), zktest.DropReply()),
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				mustCreate(t, c, "/n", "")
				mustCreate(t, c, "/l", "")
				srv.Inject(zktest.Rule{Op: zktest.OpMulti, Do: fault})
				_, err := c.Transaction(within(t, time.Second), takeTurn(3)...)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
				time.Sleep(time.Minute)
				synctest.Wait()
				require.Empty(t, srv.Children("/l"))
				_, there := srv.Node("/n")
				require.False(t, there, "it was applied")
			})
		})
	}
}

// The parent exists, so the lost request is the request that creates the nodes.
//
// Promise: A transaction whose reply was lost is recognized as applied by its protected
// nodes.
func TestTransactionWithProtectedNodesWhoseReplyIsLostIsFoundOutAsDone(t *testing.T) {
	list := func() []framework.TxnOp {
		return append(protectedOps("/m/lease-", 3), framework.DeleteOp("/n", framework.AnyVersion))
	}
	eachLoss(t, list,
		func(t *testing.T, srv *zktest.Server, c *framework.Client, loss string, results []framework.TxnResult, err error) {
			if !strings.HasSuffix(loss, "same session") {
				require.ErrorIs(t, err, framework.ErrOutcomeUnknown, loss)
				time.Sleep(time.Minute)
				require.Empty(t, srv.Children("/m"), loss)
				return
			}
			require.NoError(t, err, loss)
			_, gateIsThere := srv.Node("/n")
			require.False(t, gateIsThere, loss)
			var made []string
			for _, r := range results[:3] {
				node, ok := srv.Node(r.Path)
				require.True(t, ok, "%s: %s", loss, r.Path)
				require.Equal(t, node.Stat.Czxid, r.Zxid)
				require.Equal(t, c.SessionID(), node.Stat.EphemeralOwner)
				made = append(made, strings.TrimPrefix(r.Path, "/m/"))
			}
			require.ElementsMatch(t, srv.Children("/m"), made, loss)
		})
}

// Somebody deletes an empty parent just before the client makes the next one below
// it. Create survives that.
func TestTransactionWhoseParentsVanishWhileTheyAreMade(t *testing.T) {
	for name, try := range map[string]func(ctx context.Context, c *framework.Client) error{
		"create": func(ctx context.Context, c *framework.Client) error {
			_, err := c.Create(ctx, "/a/b/n", nil, framework.WithParents())
			return err
		},
		"transaction": func(ctx context.Context, c *framework.Client) error {
			_, err := c.Transaction(ctx, framework.CreateOp("/a/b/n", nil, framework.WithParents()))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				mustCreate(t, c, "/a", "")
				once := true
				srv.Inject(zktest.Rule{Op: zktest.OpAny, Path: "/a/b", Times: -1, Do: zktest.Call(func(q zktest.Request) {
					if once && q.Op != zktest.OpExists {
						once = false
						require.NoError(t, srv.Delete("/a"))
					}
				})})
				require.NoError(t, try(t.Context(), c))
				require.False(t, once)
			})
		})
	}
}

// A transaction of two that a server has applied both. The first nodes of all
// creates belong together, and the others are deleted. The servers list them in
// any order.
//
// Promise: A transaction that was applied twice returns the nodes of its first application.
func TestTransactionThatWasAppliedTwiceHasItsFirstNodes(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		var parents []string
		var ops []framework.TxnOp
		for i := range 16 {
			parents = append(parents, fmt.Sprintf("/p%d", i))
			mustCreate(t, c, parents[i], "")
			ops = append(ops, protectedOps(parents[i]+"/n-", 1)...)
		}
		srv.Inject(zktest.Rule{Op: zktest.OpMulti, Do: zktest.DropReply()})
		srv.Inject(zktest.Rule{Op: zktest.OpMulti, After: 1, Do: zktest.Call(func(zktest.Request) {
			for _, p := range parents {
				first := srv.Children(p)[0]
				require.NoError(t, srv.Create(p+"/"+strings.TrimSuffix(first, "0")+"1", nil))
			}
		})})
		results, err := c.Transaction(t.Context(), ops...)
		require.NoError(t, err)
		time.Sleep(time.Minute)
		for i, p := range parents {
			require.Equal(t, []string{strings.TrimPrefix(results[i].Path, p+"/")}, srv.Children(p))
			require.True(t, strings.HasSuffix(results[i].Path, "0"), results[i].Path)
		}
	})
}
