package framework_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

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

// A delete that waits for room is not forgotten, and made once more.
func TestDeleteInBackgroundThatWaitsForRoomIsMadeOnce(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		mustCreate(t, c, "/n", "")
		wait := crowdConnection(t.Context(), c, srv, time.Second)
		framework.Extend(c).DeleteInBackground("/n")
		there, _, err := c.Exists(t.Context(), "/n")
		require.NoError(t, err)
		require.False(t, there, "what is asked next comes behind it")
		wait()
		time.Sleep(time.Minute)
		require.Equal(t, 1, srv.CountRequests(zktest.OpDelete))
	})
}
