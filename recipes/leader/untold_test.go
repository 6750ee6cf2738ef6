package leader_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
)

// Servers tell of no change to those who may not read the node at that moment.
// The watches of the observer and of the next candidate are used up in silence,
// and the end of the leader is not told.
func TestEndOfALeaderIsNoticedThoughItIsNotTold(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		path := recipetest.Path(t)
		one, _ := w.Connect(t)
		two, _ := w.Connect(t)
		next := w.observe(t, w.Observer, path)
		require.Equal(t, locks.Participant{}, next())
		first := latch(t, one, path)
		lease, err := first.WaitLeadership(w.Patience(t))
		require.NoError(t, err)
		second := latch(t, two, path)
		require.Equal(t, lease.FencingToken(), next().Token)
		w.WaitNodes(t, path, 2)
		synctest.Wait()
		w.ChangeUntold(t, lease.Path())
		require.NoError(t, first.Shutdown(w.Patience(t)))
		time.Sleep(recipetest.Untold)
		now := second.Leadership()
		require.NotNil(t, now, "it leads")
		require.Equal(t, now.FencingToken(), next().Token)
	})
}
