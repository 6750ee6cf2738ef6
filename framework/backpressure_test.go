package framework_test

import (
	"context"
	"sync"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// crowdConnection makes so many requests that others wait for room, until
// the answer to the first comes. The function returned waits for all of them.
func crowdConnection(ctx context.Context, c *framework.Client, srv *zktest.Server, answer time.Duration) (wait func()) {
	srv.Inject(zktest.Rule{Op: zktest.OpSync, Do: zktest.DelayReply(answer)})
	var all sync.WaitGroup
	for range 800 {
		all.Go(func() { c.Sync(ctx, "/") })
	}
	synctest.Wait()
	return all.Wait
}
