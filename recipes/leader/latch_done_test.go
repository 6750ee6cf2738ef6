package leader_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/locks"
)

// WaitLeadership returns the end of its context, also while the latch goes on
// leading. So
// the loop in Latch's documentation ends with the context.
func TestWaitLeadershipReturnsTheEndOfItsContextWhileItLeads(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		l := latch(t, c, "/l")
		lease := w.await(t, l)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := l.WaitLeadership(ctx)
		require.ErrorIs(t, err, context.Canceled)
		require.NotErrorIs(t, err, locks.ErrNotAcquired, "nobody is ahead")
		require.Same(t, lease, l.Leadership())
		w.closeAll(t, "/l", l)
	})
}
