package leader_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/state"
)

// The error of WaitLeadership without success names the present leader, and not
// an earlier one.
func TestFailedWaitLeadershipNamesTheLeader(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		latches, _ := w.startLatches(t, "/l", 1, leader.WithID("the first"))
		c, network := w.Connect(t, framework.WithErrorPolicy(state.StandardPolicy))
		second := latch(t, c, "/l")
		_, err := second.WaitLeadership(recipetest.Within(t, time.Second))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		var held *locks.NotAcquiredError
		require.ErrorAs(t, err, &held)
		require.Equal(t, "the first", held.Identity().Foreign)

		require.NoError(t, latches[0].Shutdown(t.Context()))
		lease := w.await(t, second)
		network.Refuse(true)
		network.Cut()
		w.endOf(t, lease)
		_, err = second.WaitLeadership(recipetest.Within(t, time.Second))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NotErrorIs(t, err, locks.ErrNotAcquired)
		network.Refuse(false)
		w.await(t, second)
		w.closeAll(t, "/l", second)
	})
}
