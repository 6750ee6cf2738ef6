package pauses_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/pauses"
)

func TestPausesGrowAndStartAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := pauses.Vanished()
		took := func() time.Duration {
			begun := time.Now()
			require.NoError(t, g.Wait(t.Context()))
			return time.Since(begun)
		}
		require.Zero(t, took())
		require.Equal(t, 100*time.Millisecond, took())
		require.Equal(t, 200*time.Millisecond, took())
		for range 10 {
			took()
		}
		require.Equal(t, 5*time.Second, took())
		time.Sleep(11 * time.Second)
		require.Zero(t, took(), "after a quiet time")
		require.NotZero(t, took())
		g.Reset()
		require.Zero(t, took())
	})
}

func TestPauseEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := pauses.Growing{First: time.Hour, Shortest: time.Hour, Longest: time.Hour}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		require.ErrorIs(t, g.Wait(ctx), context.DeadlineExceeded)
		require.Equal(t, time.Second, time.Since(begun))
	})
}

// A loop that works for a while between two pauses is not quiet: the pauses stay
// long.
func TestPausesStayLongUntilItWasQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := pauses.Growing{Shortest: time.Second, Longest: 4 * time.Second}
		took := func() time.Duration {
			begun := time.Now()
			require.NoError(t, g.Wait(t.Context()))
			return time.Since(begun)
		}
		for range 5 {
			took()
		}
		for range 3 {
			time.Sleep(8 * time.Second) // twice the longest, since the last pause has ended
			require.Equal(t, 4*time.Second, took())
		}
		time.Sleep(8*time.Second + 1)
		require.Zero(t, took())
	})
}
