//go:build real

package framework_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// A transaction, and what must come of it, on every server.
func transactions(t *testing.T, ctx context.Context, c *framework.Client) {
	t.Helper()
	for _, mode := range []framework.Mode{
		framework.Persistent, framework.Ephemeral, framework.PersistentSequential, framework.EphemeralSequential,
		framework.Container, framework.PersistentTTL, framework.PersistentSequentialTTL,
	} {
		opts := []framework.CreateOption{framework.WithMode(mode), framework.WithACL(zk.WorldACL(zk.PermAll &^ zk.PermAdmin))}
		if mode == framework.PersistentTTL || mode == framework.PersistentSequentialTTL {
			opts = append(opts, framework.WithTTL(time.Hour))
		}
		_, err := c.Create(ctx, "/t", []byte("v0"))
		require.NoError(t, err)
		results, err := c.Transaction(ctx,
			framework.CheckOp("/t", 0),
			framework.CreateOp("/t/n-", []byte("data"), opts...),
			framework.SetOp("/t", []byte("v1"), 0),
			framework.CreateOp("/gone", nil),
			framework.DeleteOp("/gone", framework.AnyVersion),
		)
		require.NoError(t, err, "mode %d", mode)
		require.Len(t, results, 5)
		for i, op := range []string{"check", "create", "set", "create", "delete"} {
			require.Equal(t, op, results[i].Op)
			require.NoError(t, results[i].Err)
			require.Equal(t, c.SessionID(), results[i].Session.ID())
			require.Equal(t, op == "set", results[i].Stat != nil)
		}
		data, stat, err := c.Get(ctx, results[1].Path)
		require.NoError(t, err, "mode %d", mode)
		require.Equal(t, "data", string(data))
		require.Equal(t, stat.Czxid, results[1].Zxid)
		acl, _, err := c.GetACL(ctx, results[1].Path)
		require.NoError(t, err)
		require.EqualValues(t, zk.PermAll&^zk.PermAdmin, acl[0].Perms)
		require.Equal(t, mode == framework.Ephemeral || mode == framework.EphemeralSequential, stat.EphemeralOwner == c.SessionID())
		require.EqualValues(t, 1, results[2].Stat.Version)
		require.Equal(t, results[1].Zxid, results[2].Stat.Mzxid)

		_, err = c.Transaction(ctx,
			framework.SetOp("/t", []byte("v2"), 1),
			framework.CreateOp("/t/n", nil, opts...),
			framework.CheckOp("/t", 1),
			framework.DeleteOp("/t", framework.AnyVersion))
		var failed *framework.TxnError
		require.ErrorAs(t, err, &failed)
		require.ErrorIs(t, err, zk.ErrBadVersion)
		require.Equal(t, 2, failed.Index)
		require.Equal(t, "check", failed.Op)
		require.Equal(t, "/t", failed.Path)
		require.Len(t, failed.Results, 4)
		for i, want := range []error{framework.ErrRolledBack, framework.ErrRolledBack, zk.ErrBadVersion, framework.ErrNotAttempted} {
			require.ErrorIs(t, failed.Results[i].Err, want)
		}
		data, stat, err = c.Get(ctx, "/t")
		require.NoError(t, err)
		require.Equal(t, "v1", string(data))
		require.EqualValues(t, 1, stat.NumChildren)
		require.NoError(t, c.Delete(ctx, "/t", 1, framework.WithChildren()))
	}
	results, err := c.Transaction(ctx, framework.CheckOp("/", framework.AnyVersion), framework.CheckOp("/", framework.AnyVersion))
	require.NoError(t, err)
	require.Len(t, results, 2)
	require.Zero(t, results[0].Zxid)
	for _, fault := range []struct {
		op   framework.TxnOp
		want error
	}{
		{framework.CreateOp("/missing/n", nil), zk.ErrNoNode},
		{framework.CreateOp("/zookeeper", nil), zk.ErrNodeExists},
		{framework.SetOp("/missing", nil, 0), zk.ErrNoNode},
		{framework.DeleteOp("/zookeeper", -1), zk.ErrBadArguments},
		{framework.CreateOp("/n", nil, framework.WithACL([]zk.ACL{{Perms: zk.PermAll, Scheme: "nonsense"}})), zk.ErrInvalidACL},
	} {
		_, err := c.Transaction(ctx, framework.CheckOp("/", framework.AnyVersion), fault.op)
		require.ErrorIs(t, err, fault.want)
		var failed *framework.TxnError
		require.ErrorAs(t, err, &failed)
		require.Equal(t, 1, failed.Index)
	}
}

func TestRealServerTransactions(t *testing.T) {
	t.Parallel()
	srv := sharedServer(t)
	transactions(t, within(t, stuck), realClient(t, srv, ""))
}

func TestTransactions(t *testing.T) {
	bubble(t, func(t *testing.T, _ *zktest.Server, c *framework.Client) {
		transactions(t, t.Context(), c)
	})
}

func TestRealServerLists(t *testing.T) {
	t.Parallel()
	srv := sharedServer(t)
	c := realClient(t, srv, chroot(t))
	ctx := within(t, stuck)
	_, err := c.Create(ctx, "/n", nil)
	require.NoError(t, err)
	acl, stat, err := c.GetACL(ctx, "/n")
	require.NoError(t, err)
	require.Equal(t, zk.WorldACL(zk.PermAll), acl)
	require.Zero(t, stat.Aversion)

	want := append(zk.DigestACL(zk.PermAll, "user", "secret"), zk.WorldACL(zk.PermRead|zk.PermAdmin)...)
	stat, err = c.SetACL(ctx, "/n", want, 0)
	require.NoError(t, err)
	require.EqualValues(t, 1, stat.Aversion)
	acl, _, err = c.GetACL(ctx, "/n")
	require.NoError(t, err)
	require.Equal(t, want, acl)
	_, err = c.SetACL(ctx, "/n", want, 0)
	require.ErrorIs(t, err, zk.ErrBadVersion)
	_, err = c.SetACL(ctx, "/n", []zk.ACL{{Perms: 1, Scheme: "nonsense"}}, 1)
	require.ErrorIs(t, err, zk.ErrInvalidACL)
	_, err = c.SetACL(ctx, "/n", zk.WorldACL(zk.PermRead), 1)
	require.NoError(t, err)
	_, err = c.SetACL(ctx, "/n", want, framework.AnyVersion)
	require.ErrorIs(t, err, zk.ErrNoAuth)
}

func TestRealServerDeletesATree(t *testing.T) {
	t.Parallel()
	srv := sharedServer(t)
	c := realClient(t, srv, chroot(t))
	ctx := within(t, stuck)
	makeTree(t, ctx, c, "/tree", 3, 12)
	begin := time.Now()
	require.NoError(t, c.Delete(ctx, "/tree", 0, framework.WithChildren()))
	t.Logf("deleted 1885 nodes in %v", time.Since(begin))
	names, _, err := c.Children(ctx, "/")
	require.NoError(t, err)
	require.Empty(t, names)
}
