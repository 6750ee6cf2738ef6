package leader

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// The lease is lost between the grant and the call of work.
//
// Promise: No work starts under a lease that has ended.
func TestWorkDoesNotStartUnderAnEndedLease(t *testing.T) {
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(locks.ErrNodeDeleted)
	stopped, err := (&Latch{}).workUntilAsked(ended, &locks.Lease{}, func(context.Context) error {
		t.Error("work has started")
		return nil
	})
	require.NoError(t, err)
	require.True(t, stopped, "Lead waits for the next leadership")
}

// A selector makes a node in each Run, and each Run gives up. Nothing waits for the
// deletion of these nodes, and the selector does not remember them.
func TestSelectorForgetsTheNodesOfItsRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()))
		require.NoError(t, err)
		defer c.Close()
		other, waits := NewSelector(c, "/s"), NewSelector(c, "/s")
		require.NoError(t, other.Run(t.Context(), func(context.Context) error {
			for range 10 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				require.ErrorIs(t, waits.Run(ctx, func(context.Context) error { return nil }), context.DeadlineExceeded)
				cancel()
			}
			require.Empty(t, waits.left)
			return nil
		}))
	})
}
