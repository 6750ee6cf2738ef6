package follow_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/testing/zktest"
)

// The servers have answered multiReads. A later connection ends by accident with
// the first one that it gets.
func TestConnectionThatEndsWithItsFirstMultiReadIsForgiven(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		paths := makeNodes(t, w, 1000)
		_, _, err := readAll(t.Context(), follow.ReadsOf(w.Observer, 8), paths)
		require.NoError(t, err)
		w.Fake.CutAll() // a server restarts
		time.Sleep(time.Second)
		lost := w.Fake.Inject(zktest.Rule{Op: zkinside.OpMultiRead, Do: zktest.DropReply()})
		w.Fake.ClearRequests()
		for range 3 {
			data, _, err := readAll(t.Context(), follow.ReadsOf(w.Observer, 8), paths)
			require.NoError(t, err)
			require.Equal(t, paths, data)
			time.Sleep(time.Hour)
		}
		require.Equal(t, 1, lost.Hits())
		require.Less(t, w.Fake.CountRequests(zktest.OpGetData), 300, "3 reads of 1000 nodes")
	})
}
