package cache

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// A server that has made no transaction fills a cache as of none. The cache was
// filled then, and is up to date again after an interruption.
func TestCacheThatWasFilledAsOfNoTransactionWasFilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		srv.Inject(zktest.Rule{Op: zkinside.OpAddWatch, Times: -1, Do: zktest.DelayRequest(time.Hour)}) // the cache's own loop waits
		var log recipetest.Log
		client := curatortest.Connect(t, srv, framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		c, err := New(client, "/r")
		require.NoError(t, err)
		defer c.Close()
		l := newLoop(t.Context(), c)
		l.source = &quietSource{}
		l.stepTo(0)
		require.NoError(t, c.WaitSynced(t.Context()))
		synctest.Wait()
		require.NotContains(t, log.String(), "up to date again")
		c.interrupted()
		l.stepTo(7)
		synctest.Wait()
		require.Contains(t, log.String(), "up to date again")
		require.EqualValues(t, 1, c.Stats().Resyncs)
	})
}

// A cache is behind from New on, also before its goroutine has begun.
func TestCacheIsBehindFromNewOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		srv.Inject(zktest.Rule{Optional: true, Op: zkinside.OpAddWatch, Do: zktest.DelayRequest(time.Second)}) // it may be filled before we look
		c, err := New(curatortest.Connect(t, srv), "/r")
		require.NoError(t, err)
		c.mu.RLock()
		since := c.behindSince
		c.mu.RUnlock()
		require.NotZero(t, since)
		require.NoError(t, c.Close())
	})
}
