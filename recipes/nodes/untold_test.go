package nodes_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/recipetest"
)

// Servers tell of no change to those who may not read the node at that moment,
// and the watch is used up. Neither the change nor the deletion is told.
func TestNodeIsRestoredThoughNothingIsTold(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		path := recipetest.Path(t)
		c, _ := w.Connect(t)
		n := start(t, c, path, "ours")
		w.ready(t, n)
		w.ChangeUntold(t, path)
		time.Sleep(recipetest.Untold)
		require.Equal(t, "ours", w.dataOf(path))
		w.ChangeUntold(t, path)
		require.NoError(t, w.Fake.Delete(path))
		time.Sleep(recipetest.Untold)
		require.Equal(t, "ours", w.dataOf(path))
		require.NoError(t, n.Shutdown(w.Patience(t)))
	})
}
