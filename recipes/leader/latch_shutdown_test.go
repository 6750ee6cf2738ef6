package leader_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
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
		l, closed := latch(t, c, "/l", leader.WithCloseNotification()), latch(t, c, "/l")
		changes := l.Changes(t.Context())
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
		heard, _ := collect(changes)
		require.Len(t, heard, 2)
		w.NothingLeft(t, "/l")
	})
}

// closeNotification returns the options of a latch. If notify is set, the latch
// tells readers of Changes when Shutdown ends a leadership.
func closeNotification(notify bool) []leader.LatchOption {
	if !notify {
		return nil
	}
	return []leader.LatchOption{leader.WithCloseNotification()}
}

// TestLeaderLatch#testCallbackNotifyLeader, #testCallbackDontNotify: Changes
// tells of an end by Shutdown only with WithCloseNotification.
func TestChangesAreToldInOrderWithShutdown(t *testing.T) {
	for _, notify := range []bool{false, true} {
		t.Run(fmt.Sprint("notify=", notify), func(t *testing.T) {
			onFakeAndReal(t, func(t *testing.T, w *world) {
				ctx, path := w.Patience(t), recipetest.Path(t)
				c, _ := w.Connect(t)
				l := latch(t, c, path, closeNotification(notify)...)
				changes := l.Changes(ctx)
				lease := w.await(t, l)
				require.NoError(t, lease.Release(ctx))
				again := w.await(t, l)
				require.NoError(t, l.Shutdown(ctx))
				want := []leader.Change{{Lease: lease}, {Lease: lease, Ended: locks.ErrReleased}, {Lease: again}}
				if notify {
					want = append(want, leader.Change{Lease: again, Ended: locks.ErrReleased})
				}
				heard, err := collect(changes)
				require.Equal(t, want, heard)
				require.ErrorIs(t, err, leader.ErrClosed)
				heard, err = collect(l.Changes(ctx))
				require.Empty(t, heard, "shut down")
				require.ErrorIs(t, err, leader.ErrClosed)
			})
		})
	}
}
