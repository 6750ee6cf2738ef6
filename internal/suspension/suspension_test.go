package suspension

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMachineThatRunsIsNotSuspended(t *testing.T) {
	first := Time()
	require.GreaterOrEqual(t, first, time.Duration(0))
	for range 10_000 {
		now := Time()
		require.GreaterOrEqual(t, now, first)
		require.InDelta(t, first, now, float64(20*time.Millisecond))
	}
}

func BenchmarkTime(b *testing.B) {
	for b.Loop() {
		Time()
	}
}
