package recipes_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/atomic"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/recipes/shared"
	"github.com/gocurator/curator/testing/zktest"
)

// Servers refuse the client's credentials for a while, and then take them again.
// What others rely on ends, and says so. What only has a copy goes on.
func TestRefusedCredentialsEndAllButCopies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		require.NoError(t, s.srv.Create("/tree", nil))
		c := s.connect(t, framework.WithAuth("digest", []byte("me:secret")))
		node, err := nodes.NewPersistentNode(c, "/node", nil)
		require.NoError(t, err)
		latch, err := leader.NewLatch(c, "/leader")
		require.NoError(t, err)
		value, err := shared.NewCount(c, "/value", 1)
		require.NoError(t, err)
		tree, err := cache.New(c, "/tree")
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		_, err = node.WaitRegistered(ctx)
		require.NoError(t, err)
		_, err = latch.WaitLeadership(ctx)
		require.NoError(t, err)
		require.NoError(t, tree.WaitSynced(ctx))
		require.NoError(t, value.WaitSynced(ctx))

		refusal := s.srv.Inject(zktest.Rule{Op: zkinside.OpAuth, Times: -1, Do: zktest.Fail(zkinside.ErrAuthFailed)})
		s.srv.Session(c.SessionID()).Expire()
		time.Sleep(10 * time.Minute)
		_, err = atomic.NewLong(c, "/long").Add(ctx, 1)
		require.ErrorIs(t, err, zk.ErrAuthFailed)
		refusal.Remove()
		require.NoError(t, s.srv.Create("/tree/new", nil))
		time.Sleep(10 * time.Minute)

		require.ErrorIs(t, node.Err(), zk.ErrAuthFailed)
		require.ErrorIs(t, latch.Err(), zk.ErrAuthFailed)
		require.NoError(t, value.Err())
		require.NoError(t, tree.WaitFor(ctx, s.srv.Stats().Zxid))
		_, there := tree.Get("/tree/new")
		require.True(t, there)
		for _, end := range []func() error{tree.Close, value.Close, func() error { return node.Shutdown(ctx) }, func() error { return latch.Shutdown(ctx) }} {
			_ = end()
		}
	})
}
