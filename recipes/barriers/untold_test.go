package barriers_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/barriers"
)

// Servers tell of no change to those who may not read the node at that moment,
// and the watch is used up. The fall of the barrier is not told.
func TestWaitSeesTheBarrierFallThoughNothingIsTold(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		path := recipetest.Path(t)
		c := w.clients(t, 2)
		_, err := barriers.NewBarrier(c[0], path).Raise(w.Patience(t))
		require.NoError(t, err)
		waited := waitLater(t.Context(), barriers.NewBarrier(c[1], path))
		w.waitWatches(t, 1)
		w.ChangeUntold(t, path)
		require.NoError(t, barriers.NewBarrier(c[0], path).Lower(w.Patience(t)))
		select {
		case err := <-waited:
			require.NoError(t, err)
		case <-time.After(recipetest.Untold):
			require.Fail(t, "it still waits")
		}
	})
}
