package framework_test

import (
	"math"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

func TestTransactionPathsAreTheClients(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c, err := framework.New(srv.Addr()+"/app/a", framework.WithDialer(srv.Dialer()))
		require.NoError(t, err)
		defer c.Close()
		results, err := c.Transaction(t.Context(),
			framework.CreateOp("/x", nil),
			framework.CreateOp("/x/n-", nil, framework.WithMode(framework.PersistentSequential)),
			framework.SetOp("/", []byte("root"), 0))
		require.NoError(t, err)
		require.Equal(t, "/x", results[0].Path)
		require.Equal(t, "/x/n-0000000000", results[1].Path)
		require.Equal(t, "/", results[2].Path)
		require.Equal(t, []string{"n-0000000000"}, srv.Children("/app/a/x"))
		_, err = c.Transaction(t.Context(), framework.CheckOp("/x", 0), framework.CheckOp("/gone", 0))
		require.EqualError(t, err, "transaction /x: operation 2 of 2, check /gone: zk: node does not exist")
	})
}

func TestEmptyTransactionDoesNothing(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		results, err := c.Transaction(t.Context())
		require.NoError(t, err)
		require.Empty(t, results)
		require.Empty(t, ops(srv))
	})
}

// A node's versions are negative after 2^31 writes. So a negative version is one
// like any other, in a transaction as well as outside.
func TestNegativeVersionsAreVersions(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		mustCreate(t, c, "/n", "data")
		for _, version := range []int32{-2, math.MinInt32} {
			for name, op := range map[string]framework.TxnOp{
				"set":    framework.SetOp("/n", nil, version),
				"check":  framework.CheckOp("/n", version),
				"delete": framework.DeleteOp("/n", version),
			} {
				_, err := c.Transaction(t.Context(), op)
				require.ErrorIs(t, err, zk.ErrBadVersion, name)
			}
			_, err := c.Set(t.Context(), "/n", nil, version)
			require.ErrorIs(t, err, zk.ErrBadVersion)
			require.ErrorIs(t, c.Delete(t.Context(), "/n", version), zk.ErrBadVersion)
			_, err = c.Create(t.Context(), "/n", nil, framework.WithOverwrite(version))
			require.ErrorIs(t, err, zk.ErrBadVersion)
		}
		require.Equal(t, 6, srv.CountRequests(zktest.OpMulti))
	})
}

// eachLoss runs a transaction whose first request or reply is lost, in every
// way, and gives the test what it returns.
func eachLoss(t *testing.T, list func() []framework.TxnOp, test func(t *testing.T, srv *zktest.Server, c *framework.Client, loss string, results []framework.TxnResult, err error)) {
	t.Helper()
	for loss, fault := range map[string]zktest.Action{"request": zktest.DropRequest(), "reply": zktest.DropReply()} {
		for breakage, with := range breakages {
			bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				mustCreate(t, c, "/n", "old")
				mustCreate(t, c, "/m", "old")
				srv.Inject(zktest.Rule{Op: zktest.OpMulti, Do: with(srv, c.SessionID(), fault)})
				results, err := c.Transaction(t.Context(), list()...)
				test(t, srv, c, loss+", "+breakage, results, err)
			})
		}
	}
}

// A write behind a fence is as good as one without.
func TestTransactionOfChecksAndWritesOfAnyVersionIsRepeated(t *testing.T) {
	eachLoss(t, func() []framework.TxnOp {
		return []framework.TxnOp{framework.CheckOp("/m", 0), framework.SetOp("/n", []byte("new"), framework.AnyVersion)}
	}, func(t *testing.T, srv *zktest.Server, c *framework.Client, loss string, results []framework.TxnResult, err error) {
		require.NoError(t, err, loss)
		require.Equal(t, 2, srv.CountRequests(zktest.OpMulti))
		require.Equal(t, c.SessionID(), results[0].Session.ID())
		node, _ := srv.Node("/n")
		require.Equal(t, node.Stat.Version, results[1].Stat.Version)
		require.Equal(t, "new", string(node.Data))
	})
}

// The server refuses the second request because of the first one, which it may
// have applied.
func TestTransactionThatIsRefusedTheSecondTimeIsOfUnknownOutcome(t *testing.T) {
	for name, list := range map[string][]framework.TxnOp{
		"delete":                 {framework.DeleteOp("/n", framework.AnyVersion)},
		"check of what it wrote": {framework.CheckOp("/n", 0), framework.SetOp("/n", nil, framework.AnyVersion)},
	} {
		bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
			mustCreate(t, c, "/n", "")
			srv.Inject(zktest.Rule{Op: zktest.OpMulti, Do: zktest.DropReply()})
			_, err := c.Transaction(t.Context(), list...)
			require.ErrorIs(t, err, framework.ErrOutcomeUnknown, name)
			var failed *framework.TxnError
			require.ErrorAs(t, err, &failed, name)
		})
	}
}

// Promise: A transaction is not repeated if it may have been applied.
func TestTransactionThatNothingTellsIsOfUnknownOutcome(t *testing.T) {
	for name, list := range map[string][]framework.TxnOp{
		"create":               {framework.CreateOp("/made", nil)},
		"delete":               {framework.DeleteOp("/n", 0)},
		"create, and a check":  {framework.CheckOp("/n", 0), framework.CreateOp("/made", nil, framework.WithMode(framework.Ephemeral))},
		"set":                  {framework.SetOp("/n", []byte("new"), 0)},
		"set twice":            {framework.SetOp("/n", []byte("a"), 0), framework.SetOp("/n", []byte("b"), 1)},
		"set, then deleted":    {framework.SetOp("/n", []byte("a"), 0), framework.DeleteOp("/n", 1)},
		"created and then set": {framework.CreateOp("/made", nil), framework.SetOp("/made", nil, 0)},
	} {
		eachLoss(t, func() []framework.TxnOp { return list },
			func(t *testing.T, srv *zktest.Server, c *framework.Client, loss string, results []framework.TxnResult, err error) {
				require.ErrorIs(t, err, framework.ErrOutcomeUnknown, "%s, %s", name, loss)
				require.True(t, framework.IsConnectionError(err))
				require.Nil(t, results)
				time.Sleep(time.Minute)
				require.Equal(t, 1, srv.CountRequests(zktest.OpMulti), "it is not repeated")
			})
	}
}

func TestTransactionIsOfUnknownOutcomeWhenItsResultsCannotBeHad(t *testing.T) {
	protected := framework.CreateOp("/p", nil, framework.WithProtection())
	for name, ops := range map[string][]framework.TxnOp{
		"a number": {protected, framework.CreateOp("/s", nil, framework.WithMode(framework.PersistentSequential))},
		"a Stat":   {protected, framework.SetOp("/m", nil, 0)},
	} {
		bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
			mustCreate(t, c, "/n", "old")
			mustCreate(t, c, "/m", "old")
			srv.Inject(zktest.Rule{Op: zktest.OpMulti, Do: zktest.DropReply()})
			results, err := c.Transaction(t.Context(), ops...)
			require.ErrorIs(t, err, framework.ErrOutcomeUnknown, name)
			require.Nil(t, results)
		})
	}
}
