package start

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/examples/start/internal/fleet"
	"github.com/gocurator/curator/testing/zktest"
)

// Three of four processes export at the same time.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		out := fleet.Run(t.Context(), t, zktest.Start(t), 4, run)
		require.Equal(t, 4, strings.Count(out, "exporting"))
		require.Equal(t, 20*time.Second, time.Since(start))
	})
}
