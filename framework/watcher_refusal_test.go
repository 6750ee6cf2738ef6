package framework_test

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// A server ends the connection for a request that is too long.
func TestWatcherOfAPathThatIsTooLongIsRefusedBeforeItIsSent(t *testing.T) {
	eachVersion(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		session, long := c.SessionID(), "/"+strings.Repeat("x", 2<<20)
		connections := make(chan struct{}, 100)
		go func() {
			for s := range c.States(t.Context()) {
				if !s.IsConnected() {
					connections <- struct{}{}
				}
			}
		}()
		w, err := c.NewWatcher(within(t, 30*time.Second), long)
		require.ErrorIs(t, err, framework.ErrRequestTooLarge)
		require.Nil(t, w)
		for _, err := range c.Watch(t.Context(), long) {
			require.ErrorIs(t, err, framework.ErrRequestTooLarge)
		}
		time.Sleep(time.Minute)
		require.Empty(t, connections)
		require.Equal(t, session, c.SessionID())
	})
}

// A recursive watch may be refused where one of the node alone was not. The
// Watchers of the node go on, also on the next connection.
func TestRefusedRecursiveWatchEndsNoOther(t *testing.T) {
	eachVersion(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		require.NoError(t, srv.Create("/n", nil))
		w := mustWatch(t, c, "/n")
		refuse := func() {
			srv.Inject(zktest.Rule{Op: zkinside.OpAddWatch, Path: "/n", Do: zktest.Fail(zktest.ErrNoAuth)})
			_, err := c.NewWatcher(within(t, 30*time.Second), "/n", framework.WithRecursion())
			require.ErrorIs(t, err, zk.ErrNoAuth)
		}
		refuse()
		require.NoError(t, srv.Set("/n", nil))
		require.Equal(t, []string{"changed /n"}, unread(t, w))

		srv.CutAll()
		time.Sleep(5 * time.Second)
		require.Equal(t, []string{"reset /n"}, unread(t, w))
		refuse()
		require.NoError(t, srv.Create("/n/c", nil))
		require.Equal(t, []string{"children /n"}, unread(t, w))

		tree := mustWatch(t, c, "/n", framework.WithRecursion())
		srv.Inject(zktest.Rule{Op: zkinside.OpAddWatch, Path: "/n", Do: zktest.Fail(zktest.ErrNoAuth)})
		srv.CutAll()
		time.Sleep(5 * time.Second)
		_, err := tree.Next(t.Context())
		require.ErrorIs(t, err, zk.ErrNoAuth, "it is refused on the next connection")
		require.Equal(t, []string{"reset /n"}, unread(t, w))
		require.NoError(t, srv.Set("/n/c", nil))
		require.NoError(t, srv.Set("/n", nil))
		require.Equal(t, []string{"changed /n"}, unread(t, w))
		tree.Close()
		w.Close()
		synctest.Wait()
		require.Empty(t, srv.Watches())
	})
}

// The Watcher that the server has agreed to leaves while another one is refused.
//
// Promise: A recursive watch that is refused leaves no part of the watch before it.
func TestRefusedRecursiveWatchLeavesNothingOfTheOneBefore(t *testing.T) {
	eachVersion(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		node := mustWatch(t, c, "/n")
		srv.Inject(zktest.Rule{Op: zkinside.OpAddWatch, Do: zktest.DelayRequest(time.Second)})
		srv.Inject(zktest.Rule{Op: zkinside.OpAddWatch, Do: zktest.Fail(zktest.ErrNoAuth)})
		time.AfterFunc(time.Second/2, node.Close)
		_, err := c.NewWatcher(within(t, 10*time.Second), "/n", framework.WithRecursion())
		require.ErrorIs(t, err, zk.ErrNoAuth)
		synctest.Wait()
		require.Empty(t, srv.Watches())
	})
}

// A standard watch on the path of a persistent one is not taken back, because a
// part of the other might go with it. There is no other if that is refused.
//
// Promise: A watch that is refused leaves no standard watch at its path.
func TestRefusedWatchLeavesNothingOfAStandardOne(t *testing.T) {
	for kind := range watchKinds(nil) {
		t.Run(kind, func(t *testing.T) {
			eachVersion(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				require.NoError(t, srv.Create("/n", nil))
				standard, err := watchKinds(c)[kind](t.Context(), "/n")
				require.NoError(t, err)
				srv.Inject(zktest.Rule{Op: zkinside.OpAddWatch, Do: zktest.DelayRequest(time.Second)})
				srv.Inject(zktest.Rule{Op: zkinside.OpAddWatch, Do: zktest.Fail(zktest.ErrNoAuth)})
				time.AfterFunc(time.Second/2, standard.Stop)
				_, err = c.NewWatcher(within(t, 10*time.Second), "/n")
				require.ErrorIs(t, err, zk.ErrNoAuth)
				synctest.Wait()
				require.Empty(t, srv.Watches())
			})
		})
	}
}

// The server refuses a watch, and agrees to the recursive one that was asked for
// meanwhile.
//
// Promise: A recursive watch is set even if another watch at its path was refused.
func TestRecursiveWatchBehindARefusedOneIsSet(t *testing.T) {
	eachVersion(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		srv.Inject(zktest.Rule{Op: zkinside.OpAddWatch, Do: zktest.DelayRequest(time.Second)})
		srv.Inject(zktest.Rule{Op: zkinside.OpAddWatch, Do: zktest.Fail(zktest.ErrNoAuth)})
		ctx := within(t, 10*time.Second)
		var node *framework.Watcher
		var refused error
		var first sync.WaitGroup
		first.Go(func() { node, refused = c.NewWatcher(ctx, "/n") })
		synctest.Wait()
		tree, err := c.NewWatcher(ctx, "/n", framework.WithRecursion())
		require.NoError(t, err)
		first.Wait()
		require.NoError(t, refused, "the server tells of the node")
		node.Close()
		changeEverything(t, srv)
		require.Equal(t, toldOfTree, unread(t, tree))
		tree.Close()
		synctest.Wait()
		require.Empty(t, srv.Watches())
	})
}
