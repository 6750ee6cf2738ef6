package start

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/examples/start/internal/fleet"
	"github.com/gocurator/curator/testing/zktest"
)

// One process leads until it is told to stop.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		srv := zktest.Start(t)
		out := fleet.Run(ctx, t, srv, 2, run)
		require.Equal(t, "this process leads\nthis process leads no more: context deadline exceeded\n", out)
		require.Empty(t, srv.Children("/leaders/billing"))
	})
}
