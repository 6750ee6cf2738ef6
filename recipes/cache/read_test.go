package cache_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/testing/zktest"
)

// Promise: Read returns the tree as of one transaction that is no older than the call,
// and leaves no watch.
func TestReadIsAsOfOneTransactionAndLeavesNoWatch(t *testing.T) {
	onEach(t, func(t *testing.T, srv *zktest.Server, client *framework.Client) {
		const nodes = 50
		create(t, srv, "/r", "/r/a")
		for i := range nodes {
			create(t, srv, fmt.Sprint("/r/a/", i))
		}
		var writer sync.WaitGroup
		defer writer.Wait()
		writes, done := context.WithCancel(t.Context())
		defer done()
		writer.Go(func() { // one node after the other gets the number of the round
			for round := 0; writes.Err() == nil; round++ {
				for i := range nodes {
					_ = srv.Set(fmt.Sprint("/r/a/", i), []byte(fmt.Sprint(round)))
					time.Sleep(time.Millisecond)
				}
			}
		})
		for range 5 {
			time.Sleep(100 * time.Millisecond)
			before := srv.Stats().Zxid
			c, err := cache.Read(within(t), client, "/r")
			require.NoError(t, err)
			require.GreaterOrEqual(t, c.Zxid(), before)
			require.ErrorIs(t, c.Err(), cache.ErrClosed)
			rounds := map[string]int{}
			turns := 0
			last := ""
			for i := range nodes {
				n, there := c.Get(fmt.Sprint("/r/a/", i))
				require.True(t, there)
				if string(n.Data) != last {
					turns++
				}
				last = string(n.Data)
				rounds[last]++
			}
			require.LessOrEqual(t, len(rounds), 2, "all nodes are of one round, or of the one before")
			require.LessOrEqual(t, turns, 2, "the nodes of the later round come first")
			synctest.Wait()
			require.Zero(t, zkinside.Of(srv).Watches(client.SessionID()))
		}
	})
}

func TestReadOfPartsAndOfNothing(t *testing.T) {
	onEach(t, func(t *testing.T, srv *zktest.Server, client *framework.Client) {
		create(t, srv, "/r", "/r/a", "/r/a/b")
		c, err := cache.Read(within(t), client, "/r", cache.WithDepth(1), cache.WithoutData())
		require.NoError(t, err)
		require.Equal(t, []string{"/r", "/r/a"}, paths(c))
		n, _ := c.Get("/r/a")
		require.Nil(t, n.Data)
		c, err = cache.Read(within(t), client, "/none")
		require.NoError(t, err)
		require.Empty(t, paths(c))
		require.GreaterOrEqual(t, c.Zxid(), srv.Stats().Zxid)
		for _, bad := range []func() (*cache.Cache, error){
			func() (*cache.Cache, error) { return cache.Read(within(t), nil, "/r") },
			func() (*cache.Cache, error) { return cache.Read(within(t), client, "/r", nil) },
		} {
			_, err := bad()
			require.ErrorIs(t, err, zk.ErrBadArguments)
		}
	})
}

// Promise: Read returns an error if a node may not be read, whether that is the root or
// another one, and no part of the tree.
func TestReadOfWhatMayNotBeRead(t *testing.T) {
	for _, refused := range []zktest.Rule{
		{Op: zktest.OpGetData, Path: "/r"},
		{Op: zkinside.OpGetChildren2, Path: "/r/a"},
		{Op: zkinside.OpAddWatch, Path: "/r"},
	} {
		onEach(t, func(t *testing.T, srv *zktest.Server, client *framework.Client) {
			create(t, srv, "/r", "/r/a", "/r/a/b")
			refused.Times, refused.Do = -1, zktest.Fail(zktest.ErrNoAuth)
			srv.Inject(refused)
			c, err := cache.Read(within(t), client, "/r")
			require.ErrorIs(t, err, zk.ErrNoAuth)
			require.ErrorContains(t, err, refused.Path)
			require.Nil(t, c)
			c, err = cache.Read(within(t), client, "/r/a", cache.WithFilter(func(string) bool { return false }), cache.WithDepth(0))
			if refused.Path != "/r/a" {
				require.NoError(t, err)
				require.Equal(t, []string{"/r/a"}, paths(c))
			}
		})
	}
}

// Promise: Read survives an outage, and returns the last error when its context ends
// first.
func TestReadDuringAnOutage(t *testing.T) {
	onEach(t, func(t *testing.T, srv *zktest.Server, client *framework.Client) {
		create(t, srv, "/r")
		require.NoError(t, client.WaitConnected(within(t)))
		srv.RefuseConnections(true)
		srv.CutAll()
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		_, err := cache.Read(ctx, client, "/r")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, framework.ErrNotConnected)
		time.AfterFunc(10*time.Second, func() { srv.RefuseConnections(false) })
		c, err := cache.Read(within(t), client, "/r")
		require.NoError(t, err)
		require.Equal(t, []string{"/r"}, paths(c))
	})
}
