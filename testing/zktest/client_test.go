package zktest_test

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest"
)

// script runs the everyday operations of a client.
func script(t *testing.T, c *client) {
	path, err := c.Create("/a", []byte("one"), 0, open)
	require.NoError(t, err)
	require.Equal(t, "/a", path)
	_, err = c.Create("/a", nil, 0, open)
	require.ErrorIs(t, err, zk.ErrNodeExists)

	data, stat, events, err := c.GetW("/a")
	require.NoError(t, err)
	require.Equal(t, "one", string(data))
	stat, err = c.Set("/a", []byte("two"), stat.Version)
	require.NoError(t, err)
	require.EqualValues(t, 1, stat.Version)
	require.Equal(t, zk.EventNodeDataChanged, (<-events).Type)
	_, err = c.Set("/a", nil, 0)
	require.ErrorIs(t, err, zk.ErrBadVersion)

	_, _, events, err = c.ChildrenW("/a")
	require.NoError(t, err)
	path, err = c.Create("/a/n-", nil, zk.FlagEphemeralSequential, open)
	require.NoError(t, err)
	require.Equal(t, "/a/n-0000000000", path)
	require.Equal(t, zk.EventNodeChildrenChanged, (<-events).Type)
	require.ErrorIs(t, c.Delete("/a", -1), zk.ErrNotEmpty)

	synced, err := c.Sync("/a")
	require.NoError(t, err)
	require.Equal(t, "/a", synced)
	results, err := c.Multi(
		&zk.CheckVersionRequest{Path: "/a", Version: 1},
		&zk.CreateRequest{Path: "/b", Acl: open},
		&zk.SetDataRequest{Path: "/b", Data: []byte("x"), Version: 0},
		&zk.DeleteRequest{Path: path, Version: -1})
	require.NoError(t, err)
	require.Equal(t, "/b", results[1].String)
	require.EqualValues(t, 1, results[2].Stat.Version)
	require.NoError(t, c.Delete("/a", -1))
	require.NoError(t, c.Delete("/b", -1))
}

func TestEverydayOperationsInMemory(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *client) {
		script(t, c)
		require.Empty(t, srv.Tree())
		require.Empty(t, srv.Watches())
	})
}

func TestClientSeesStatsAndVariants(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *client) {
		path, err := c.CreateContainer("/c", nil, zk.FlagContainer, open)
		require.NoError(t, err)
		require.Equal(t, "/c", path)
		path, err = c.CreateTTL("/c/t-", nil, zk.FlagPersistentSequentialWithTTL, open, time.Minute)
		require.NoError(t, err)
		require.Equal(t, "/c/t-0000000000", path)
		path, err = c.CreateProtectedEphemeralSequential("/c/lock-", []byte("me"), open)
		require.NoError(t, err)
		data, stat, err := c.Get(path)
		require.NoError(t, err)
		require.Equal(t, "me", string(data))
		require.Equal(t, c.SessionID(), stat.EphemeralOwner)
		acl, _, err := c.GetACL(path)
		require.NoError(t, err)
		require.Equal(t, open, acl)
		require.NoError(t, c.AddAuth("digest", []byte("joe:secret")))
		_, err = c.Create("/private", nil, 0, zk.DigestACL(zk.PermAll, "joe", "secret"))
		require.NoError(t, err)
		_, err = c.Set("/private", []byte("x"), -1)
		require.NoError(t, err)
	})
}
