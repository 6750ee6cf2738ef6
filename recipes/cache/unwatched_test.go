package cache_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/testing/zktest"
)

// busyFor is for how long a cache of busy has something else to do.
const busyFor = time.Minute

// busy opens a cache that has something else to do from now on, so that it does not
// see the end of a connection.
func busy(t *testing.T, srv *zktest.Server, client *framework.Client) *cache.Cache {
	t.Helper()
	c := open(t, client, "/r", cache.WithFilter(func(string) bool { time.Sleep(busyFor); return false }))
	create(t, srv, "/r/slow")
	synctest.Wait()
	return c
}

// stateTold returns a function that returns whether a reader was told last that the
// cache is synced.
func stateTold(t *testing.T, c *cache.Cache) (synced func() bool) {
	t.Helper()
	var last cache.Step
	go func() {
		for step, err := range c.Steps(t.Context()) {
			if err == nil {
				last = step
			}
		}
	}()
	return func() bool {
		synctest.Wait()
		return last.Synced
	}
}

// A server has too much to do to set the watch again after a reconnect. The cache
// learns of the reconnect afterwards. No event reports changes to the cache meanwhile,
// and the cache reports a lag.
//
// Promise: A cache whose watch is not set again after a reconnect reports a lag.
func TestCacheWhoseWatchIsThrottledIsInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		create(t, srv, "/r")
		var log bytes.Buffer
		client := connect(t, srv, framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		c := busy(t, srv, client)
		synced := stateTold(t, c)
		throttled := srv.Inject(zktest.Rule{Op: zkinside.OpAddWatch, Times: -1, Do: zktest.Fail(zkinside.ErrThrottled)})
		srv.CutAll()
		time.Sleep(busyFor)
		synctest.Wait()
		require.True(t, client.State().IsConnected())
		require.NoError(t, srv.Set("/r", []byte("new")))
		time.Sleep(time.Minute)
		require.GreaterOrEqual(t, c.Stats().Lag, time.Minute)
		require.False(t, synced())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		code, _ := framework.ServerCode(c.WaitFor(ctx, srv.Stats().Zxid))
		require.EqualValues(t, zkinside.ErrThrottled, code)

		throttled.Remove()
		time.Sleep(2 * busyFor)
		require.True(t, synced())
		require.Equal(t, cache.Stats{Nodes: 1, Known: 1, Resyncs: 1}, c.Stats())
		n, _ := c.Get("/r")
		require.Equal(t, "new", string(n.Data))
		require.NoError(t, client.Close())
		require.Equal(t, 1, strings.Count(log.String(), "zookeeper cache has no watch"), log.String())
		require.Equal(t, 1, strings.Count(log.String(), "zookeeper cache is up to date again"))
	})
}
