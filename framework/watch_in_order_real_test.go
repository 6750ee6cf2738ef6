//go:build real

package framework_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkserver"
)

// A real server tells of a deletion in order, whoever has made it.
func TestRealServerTellsInOrder(t *testing.T) {
	srv := zkserver.Start(t)
	c, other := realClient(t, srv, ""), realClient(t, srv, "")
	ctx := within(t, stuck)
	for i := range 100 {
		by := c
		if i%2 == 0 {
			by = other
		}
		mustCreate(t, c, "/n", "")
		_, _, w, err := c.GetW(ctx, "/n")
		require.NoError(t, err)
		require.NoError(t, by.Delete(ctx, "/n", framework.AnyVersion))
		_, err = w.Wait(ctx)
		require.NoError(t, err)
		require.True(t, w.InOrder())
	}
}
