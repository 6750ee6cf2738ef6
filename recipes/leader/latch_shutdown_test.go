package leader_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
)

// CURATOR-110, TestLeaderLatch#testNoServerAtStart and
// #testProperCloseWithoutConnectionEstablished: a latch may be made, and shut
// down, without a server.
func TestNewLatchNeedsNoServer(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		w.Stop()
		c, err := framework.New(w.Addr, framework.WithDialer(w.Dial), framework.WithSessionTimeout(w.Session))
		require.NoError(t, err)
		defer c.Close()
		l, closed := latch(t, c, "/l"), latch(t, c, "/l")
		time.Sleep(time.Hour)
		require.NoError(t, closed.Shutdown(t.Context()))
		_, err = l.WaitLeadership(recipetest.Within(t, time.Second))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		w.Start()
		lease := w.await(t, l)
		time.Sleep(time.Minute)
		require.Equal(t, lease, l.Leadership(), "one election only")
		require.Len(t, w.Nodes(t, "/l"), 1)
		require.NoError(t, l.Shutdown(t.Context()))
		w.NothingLeft(t, "/l")
	})
}
