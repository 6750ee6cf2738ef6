package framework_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// The server has a watch of the node alone, on which a standard one rides. It has
// no time to make it recursive, and the readers go meanwhile.
//
// Promise: A watch that could not be made recursive is removed from the server.
func TestWatchThatIsNotMadeRecursiveIsWithdrawn(t *testing.T) {
	eachVersion(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		require.NoError(t, srv.Create("/n", nil))
		node := mustWatch(t, c, "/n")
		_, _, standard, err := c.GetW(t.Context(), "/n")
		require.NoError(t, err)
		srv.Inject(zktest.Rule{Op: zkinside.OpAddWatch, Do: zktest.All(zktest.DelayRequest(time.Second), zktest.Fail(zkinside.ErrThrottled))})
		go c.NewWatcher(within(t, 500*time.Millisecond), "/n", framework.WithRecursion())
		synctest.Wait()
		node.Close()
		time.Sleep(10 * time.Second)
		require.False(t, fired(standard))
		standard.Stop()
		time.Sleep(10 * time.Second)
		require.Empty(t, srv.Watches())
	})
}
