package leader_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/state"
)

// An interruption ends a leadership, and the client is closed at once. If the leader has
// said that it has stopped, Close deletes the node: nobody needs the safety margin any
// more. If not, the node stays for that time at least.
func TestCloseWhileAnInterruptedLeaderStops(t *testing.T) {
	for name, stop := range map[string]func(t *testing.T, l *leader.Latch, lease *locks.Lease){
		"its lease is released": func(t *testing.T, _ *leader.Latch, lease *locks.Lease) {
			require.ErrorIs(t, lease.Release(t.Context()), framework.ErrSuspended)
		},
		"the latch is shut down": func(t *testing.T, l *leader.Latch, _ *locks.Lease) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			require.ErrorIs(t, l.Shutdown(ctx), framework.ErrNotConnected)
		},
		"nobody says that it has stopped": nil,
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, network := w.Connect(t, framework.WithErrorPolicy(state.StandardPolicy), framework.WithSafetyMargin(0.4))
				l := latch(t, c, "/l")
				lease := w.await(t, l)
				network.Refuse(true)
				time.AfterFunc(time.Second, network.Cut)
				<-lease.Context().Done()
				lost := time.Now()
				if stop != nil {
					stop(t, l, lease)
				}
				network.Refuse(false)
				require.NoError(t, c.Close())
				if stop != nil {
					require.Empty(t, w.Nodes(t, "/l"))
					return
				}
				w.WaitNodes(t, "/l", 0)
				require.GreaterOrEqual(t, time.Since(lost), w.Session*4/10)
			})
		})
	}
}
