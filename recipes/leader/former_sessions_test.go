package leader_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
)

// A candidate waits behind another one through several outages that cost its
// session. The nodes of those sessions are gone long since. Without a connection
// for the connection timeout, Shutdown returns framework.ErrNotConnected.
//
// Promise: Shutdown does not wait for nodes of former sessions.
func TestShutdownForgetsNodesOfFormerSessions(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		leads := latch(t, w.Observer, "/l")
		w.await(t, leads)
		c, network := w.Connect(t, framework.WithSessionTimeout(6*time.Second), framework.WithConnectionTimeout(2*time.Second))
		waits := latch(t, c, "/l")
		w.WaitNodes(t, "/l", 2)
		for range 10 {
			synctest.Wait()
			network.Refuse(true)
			network.Cut()
			time.Sleep(time.Minute)
			network.Refuse(false)
			time.Sleep(5 * time.Minute)
			require.Len(t, w.Fake.Children("/l"), 2)
		}
		network.Refuse(true)
		network.Cut()
		synctest.Wait()
		begun := time.Now()
		require.ErrorIs(t, waits.Shutdown(context.Background()), framework.ErrNotConnected)
		took := time.Since(begun)
		network.Refuse(false)
		require.LessOrEqual(t, took, 5*time.Second)
	})
}
