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

var _ = main // a person runs it: see docs/START.md

// Two processes work one after the other.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		out := fleet.Run(t.Context(), t, zktest.Start(t), 2, run)
		require.Equal(t, 2, strings.Count(out, "holding the lock\n"))
		require.Equal(t, 20*time.Second, time.Since(start))
	})
}
