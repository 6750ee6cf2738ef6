package start

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/examples/start/internal/fleet"
	"github.com/gocurator/curator/testing/zktest"
)

// Each minute has one report.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute+time.Second)
		defer cancel()
		out := fleet.Run(ctx, t, zktest.Start(t), 3, run)
		require.Equal(t, 3, strings.Count(out, "writing the report\n"))
		require.Equal(t, 6, strings.Count(out, "no report here: "))
	})
}
