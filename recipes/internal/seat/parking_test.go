package seat

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

func parks(cfg *Config) { cfg.MaxReuses, cfg.Idle = 100, time.Hour }

// A process closes clients and makes others. What it counts is for all of them.
func TestParkedSeatOfAClosedClientDoesNotCount(t *testing.T) {
	inBubble(t, func(t *testing.T, srv *zktest.Server, _ *framework.Client) {
		c := connect(t, srv)
		first := acquire(t, mutex(c, parks))
		first.won()
		first.release()
		require.EqualValues(t, 1, parkedNow.Load())
		require.NoError(t, c.Close())
		synctest.Wait()
		require.Zero(t, parkedNow.Load())
	})
}
