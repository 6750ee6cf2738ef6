//go:build real

package framework_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkserver"
)

// A real server tells of the deletion on the same connection, before or right behind
// the answer.
func TestRealServerTellsOfOwnDeletions(t *testing.T) {
	srv := zkserver.Start(t)
	c, other := realClient(t, srv, ""), realClient(t, srv, "")
	ctx := within(t, stuck)
	for i := range 100 {
		by, want := c, i%2 == 0
		if !want {
			by = other
		}
		mustCreate(t, c, "/n", "")
		_, _, w, err := c.GetW(ctx, "/n")
		require.NoError(t, err)
		require.NoError(t, by.Delete(ctx, "/n", framework.AnyVersion))
		_, err = w.Wait(ctx)
		require.NoError(t, err)
		require.Equal(t, want, w.ByOwnDelete(ctx))
		require.True(t, w.InOrder())
	}
}
