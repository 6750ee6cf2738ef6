package zktest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

func TestEditsFireWatches(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *client) {
		_, _, created, err := c.ExistsW("/a/b")
		require.NoError(t, err)
		require.NoError(t, srv.Create("/a/b", []byte("x")))
		require.Equal(t, zk.EventNodeCreated, (<-created).Type)
		_, _, changed, err := c.GetW("/a/b")
		require.NoError(t, err)
		require.NoError(t, srv.Set("/a/b", []byte("y")))
		require.Equal(t, zk.EventNodeDataChanged, (<-changed).Type)
		_, _, deleted, err := c.ChildrenW("/a")
		require.NoError(t, err)
		require.NoError(t, srv.Delete("/a/b"))
		require.Equal(t, zk.EventNodeChildrenChanged, (<-deleted).Type)
		require.Equal(t, 3, srv.Stats().Notifications)

		require.ErrorIs(t, srv.Create("/a", nil), zktest.Code(zkinside.ErrNodeExists))
		require.ErrorIs(t, srv.Create("a", nil), zktest.Code(zkinside.ErrBadArguments))
		require.ErrorIs(t, srv.Set("/b", nil), zktest.Code(zkinside.ErrNoNode))
		require.ErrorIs(t, srv.Delete("/b"), zktest.Code(zkinside.ErrNoNode))
		require.ErrorIs(t, srv.Delete("/"), zktest.Code(zkinside.ErrBadArguments))
		require.ErrorIs(t, zkinside.Of(srv).SetSequence("/b", 1), zktest.Code(zkinside.ErrNoNode))
	})
}

func TestSetSequence(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *client) {
		require.NoError(t, srv.Create("/p", nil))
		require.NoError(t, zkinside.Of(srv).SetSequence("/p", 1<<31-1))
		for _, prefix := range []string{"/p/a-", "/p/b-"} {
			path, err := c.Create(prefix, nil, zk.FlagEphemeralSequential, open)
			require.NoError(t, err)
			require.Equal(t, prefix+"2147483647", path, "there is no wrap")
		}
		require.NoError(t, zkinside.Of(srv).SetSequence("/p", -1<<31))
		for _, want := range []string{"/p/n--2147483648", "/p/n--2147483647"} {
			path, err := c.Create("/p/n-", nil, zk.FlagEphemeralSequential, open)
			require.NoError(t, err)
			require.Equal(t, want, path)
		}
	})
}

func TestLookingIn(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *client) {
		require.NoError(t, srv.Create("/b", []byte("bee")))
		require.NoError(t, srv.Create("/a/x", nil))
		_, err := c.Create("/e", nil, zk.FlagEphemeral, open)
		require.NoError(t, err)
		_, _, _, err = c.ChildrenW("/a")
		require.NoError(t, err)

		var paths []string
		for _, n := range srv.Tree() {
			paths = append(paths, n.Path)
		}
		require.Equal(t, []string{"/a", "/a/x", "/b", "/e"}, paths)
		require.Equal(t, []string{"x"}, srv.Children("/a"))
		require.Nil(t, srv.Children("/a/x"))
		require.Nil(t, srv.Children("/missing"))
		node, found := srv.Node("/b")
		require.True(t, found)
		require.Equal(t, "bee", string(node.Data))
		require.EqualValues(t, 3, node.Stat.DataLength)
		_, found = srv.Node("/missing")
		require.False(t, found)

		id := c.SessionID()
		require.Equal(t, []zktest.SessionInfo{{
			ID: id, Timeout: 9 * time.Second, Deadline: time.Now().Add(9 * time.Second),
			Connected: true, Ephemerals: []string{"/e"}, WatchCount: 1,
		}}, srv.Sessions())
		require.Equal(t, []zktest.Watch{{Session: id, Path: "/a", Child: true}}, srv.Watches())
		for _, part := range []string{"/a/x", "bee", "child /a", fmt.Sprintf("%#x", id)} {
			require.Contains(t, srv.Dump(), part)
		}
	})
}

func TestRequestLog(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *client) {
		time.Sleep(3 * time.Second) // one ping
		path, err := c.Create("/n-", nil, zk.FlagSequence, open)
		require.NoError(t, err)
		_, _, err = c.Get("/missing")
		require.ErrorIs(t, err, zk.ErrNoNode)

		log := srv.Requests()
		require.Equal(t, []zktest.Op{zktest.OpConnect, zkinside.OpPing, zktest.OpCreate, zktest.OpGetData},
			[]zktest.Op{log[0].Op, log[1].Op, log[2].Op, log[3].Op})
		node, _ := srv.Node(path)
		require.Equal(t, zktest.Request{
			Number: 3, Time: time.Now(), Conn: 1, Session: c.SessionID(), Xid: log[2].Xid, Op: zktest.OpCreate,
			Path: "/n-", Created: path, Processed: true, Zxid: node.Stat.Czxid,
		}, log[2])
		require.Equal(t, zktest.Code(zkinside.ErrNoNode), log[3].Err)
		require.Equal(t, 2, srv.CountRequests(zktest.OpAny))
		srv.ClearRequests()
		require.Empty(t, srv.Requests())
		require.Zero(t, srv.CountRequests(zktest.OpCreate))
	})
}

func TestWaiting(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *client) {
		go func() {
			for i := range 3 {
				time.Sleep(time.Second)
				_ = srv.Create(fmt.Sprintf("/p/%d", i), nil)
			}
		}()
		start := time.Now()
		require.NoError(t, srv.WaitChildren(t.Context(), "/p", 3))
		require.Equal(t, 3*time.Second, time.Since(start))

		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.ErrorIs(t, srv.WaitFor(ctx, func() bool { return len(srv.Watches()) == 1 }), context.DeadlineExceeded)
		require.NoError(t, srv.WaitFor(ctx, func() bool { return len(srv.Watches()) == 0 }), "what is true already needs no waiting")
	})
}

// failing is a TB whose Fatalf panics, so that a test of a failure can go on.
type failing struct{ testing.TB }

func (failing) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
