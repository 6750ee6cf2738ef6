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

// The second process learns who works, and does not wait.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		out := fleet.Run(t.Context(), t, zktest.Start(t), 2, run)
		require.Equal(t, 1, strings.Count(out, "rebuilding the cache\n"))
		require.Contains(t, out, "nothing to do: acquire /locks/cache-rebuild: not acquired: 1 ahead, held by ")
		require.Equal(t, 10*time.Second, time.Since(start))
	})
}
