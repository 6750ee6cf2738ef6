package shared_test

import (
	"log/slog"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/recipetest"
	"github.com/gocurator/curator/recipes/shared"
	"github.com/gocurator/curator/testing/zktest"
)

// A Refresh that finds no node before the Value does keeps nobody from creating
// the node, and is no deletion.
func TestRefreshBeforeTheSeed(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		var log recipetest.Log
		c, _ := w.Connect(t, framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		w.Fake.Inject(zktest.Rule{Op: zktest.OpGetData, Path: "/n", Do: zktest.Fail(zktest.ErrSystem)}) // the Value is tried again later
		n, err := shared.NewCount(c, "/n", 7)
		require.NoError(t, err)
		defer n.Close()
		synctest.Wait()
		now, err := n.Refresh(t.Context())
		require.NoError(t, err)
		require.False(t, now.Exists)
		settle()
		require.NoError(t, n.Synced(t.Context()))
		require.Equal(t, int32(7), w.onServer(t, "/n"))
		require.True(t, get(t, n).Exists)
		require.NotContains(t, log.String(), "deleted by somebody else")
	})
}
