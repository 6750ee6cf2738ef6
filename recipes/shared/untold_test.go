package shared_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/recipetest"
)

// Servers tell of no change to those who may not read the node at that moment,
// and the watch is used up. The writes that follow are not told either.
func TestValueIsReadAgainThoughNothingIsTold(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		n := w.count(t, c, "/n", 7)
		get(t, n)
		w.ChangeUntold(t, "/n")
		require.NoError(t, w.Fake.Set("/n", bytesOf(8)))
		time.Sleep(recipetest.Untold)
		require.EqualValues(t, 8, get(t, n).Value)
	})
}
