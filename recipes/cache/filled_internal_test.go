package cache

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// A server that has made no transaction fills a cache as of none. The cache was
// filled then, and is up to date again after an interruption.
func TestCacheThatWasFilledAsOfNoTransactionWasFilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		srv.Inject(zktest.Rule{Op: zktest.OpAddWatch, Times: -1, Do: zktest.DelayRequest(time.Hour)}) // the cache's own loop waits
		client := curatortest.Connect(t, srv)
		recorder := insider.Of(client).StartRecorder()
		c, err := New(client, "/r")
		require.NoError(t, err)
		defer c.Close()
		l := newLoop(t.Context(), c)
		l.source = &quietSource{}
		l.stepTo(0)
		require.NoError(t, c.WaitSynced(t.Context()))
		c.interrupted()
		l.stepTo(7)
		var told []string
		for _, e := range recorder.Events() {
			if e.Path == "/r" && e.Name != "" {
				told = append(told, e.Name)
			}
		}
		require.Equal(t, []string{"filled", "up to date again"}, told)
		require.EqualValues(t, 1, c.Stats().Resyncs)
	})
}

// A cache is behind from New on, also before its goroutine has begun.
func TestCacheIsBehindFromNewOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		srv.Inject(zktest.Rule{Op: zktest.OpAddWatch, Do: zktest.DelayRequest(time.Second)}) // it may be filled before we look
		c, err := New(curatortest.Connect(t, srv), "/r")
		require.NoError(t, err)
		c.mu.RLock()
		since := c.behindSince
		c.mu.RUnlock()
		require.NotZero(t, since)
		require.NoError(t, c.Close())
	})
}
