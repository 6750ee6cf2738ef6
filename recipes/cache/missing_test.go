package cache_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// A child is made during an outage, so no event tells of it. It is deleted after
// the Sync that follows, and before its parent is listed.
func TestStepLeavesOutNoNodeThatWasThereAtItsTransaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		create(t, srv, "/r", "/r/d")
		c := open(t, connect(t, srv), "/r")
		srv.RefuseConnections(true)
		srv.CutAll()
		create(t, srv, "/r/d/b")
		created := srv.Stats().Zxid
		var deletion atomic.Int64
		srv.Inject(zktest.Rule{Op: zkinside.OpMultiRead, Do: zktest.Call(func(zktest.Request) { // reads /r and /r/d
			if err := srv.Delete("/r/d/b"); err != nil {
				t.Error(err)
			}
			deletion.Store(srv.Stats().Zxid)
		})})
		for _, op := range []zktest.Op{zktest.OpExists, zktest.OpGetData} {
			srv.Inject(zktest.Rule{Optional: true, Op: op, Path: "/r/d/b", Times: -1, Do: zktest.DelayReply(time.Second)})
		}
		srv.RefuseConnections(false)
		for range 10000 {
			time.Sleep(time.Millisecond)
			synctest.Wait()
			deleted := deletion.Load()
			if deleted == 0 || c.Zxid() < created || c.Zxid() >= deleted {
				continue
			}
			_, has := c.Get("/r/d/b")
			require.True(t, has, "as of %d; the node was there from %d to %d", c.Zxid(), created, deleted)
		}
		require.NotZero(t, deletion.Load())
		require.GreaterOrEqual(t, c.Zxid(), deletion.Load())
	})
}

// Each new node has a child by the time that it is read.
func TestCacheTakesStepsWhileNodesWithChildrenAreCreated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		create(t, srv, "/r")
		c := open(t, connect(t, srv), "/r")
		for _, op := range []zktest.Op{zktest.OpGetData, zkinside.OpMultiRead, zktest.OpGetChildren} {
			srv.Inject(zktest.Rule{Optional: true, Op: op, Times: -1, Do: zktest.DelayReply(5 * time.Millisecond)})
		}
		const nodes = 1000
		steps, last := 0, c.Zxid()
		for i := range nodes {
			create(t, srv, fmt.Sprintf("/r/%d", i), fmt.Sprintf("/r/%d/c", i))
			time.Sleep(2 * time.Millisecond)
			if now := c.Zxid(); now != last {
				steps, last = steps+1, now
			}
		}
		require.Greater(t, steps, 20, "in the time of about %d batches", nodes*2/20)
	})
}
