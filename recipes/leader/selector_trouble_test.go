package leader_test

import (
	"context"
	"path"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// The error of a Run whose context ends in the queue names the leader, as the
// error of an acquire does.
func TestFailedRunNamesTheLeader(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		first := w.run(t, w.Observer, "/s", 0)
		lease := <-first.leads
		c, _ := w.Connect(t)
		err := leader.NewSelector(c, "/s").Run(recipetest.Within(t, time.Second), idle)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		var waited *locks.NotAcquiredError
		require.ErrorAs(t, err, &waited)
		require.Equal(t, 1, waited.Ahead)
		require.Equal(t, path.Base(lease.Path()), waited.Holder)
		require.ErrorIs(t, first.stop(), context.Canceled)
	})
}
