package brief

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDuration(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0s":           0,
		"999ns":        999,
		"1.23µs":       1234,
		"12.3µs":       12345,
		"123µs":        123456,
		"1.23ms":       1234567,
		"123ms":        123456789,
		"1s":           999999999,
		"1.2s":         1234567890,
		"1m1s":         61*time.Second + time.Millisecond,
		"1m":           time.Minute,
		"10m":          10 * time.Minute,
		"3h":           3 * time.Hour,
		"3h2m":         3*time.Hour + 2*time.Minute + time.Second,
		"-1.5s":        -1500 * time.Millisecond,
		"2562047h47m":  math.MaxInt64,
		"-2562047h47m": math.MinInt64,
	} {
		require.Equal(t, want, Duration(d), "%d", d)
	}
}

func TestSinceIsNeverNegative(t *testing.T) {
	now := time.Now()
	require.Equal(t, "2s", Since(now, now.Add(-2*time.Second)))
	require.Equal(t, "0s", Since(now, now.Add(time.Second)), "clocks of others")
}

func TestNodeLeavesTheIDOut(t *testing.T) {
	require.Equal(t, "lock-0000000001", Node("_c_fd3dab69-2382-4af7-b634-a8606fe6c97c-lock-0000000001"))
	require.Equal(t, "_c_short", Node("_c_short"))
	require.Equal(t, "", Node(""))
	require.Equal(t, `"a\nb"`, Node("a\nb"))
}

func TestCountAndList(t *testing.T) {
	require.Equal(t, "1 node, 0 reads", List(Count(1, "node"), "", Count(int64(0), "read")))
	require.Empty(t, List("", ""))
}

func TestWaiting(t *testing.T) {
	require.Equal(t, "1 of this client waits", Waiting(1))
	require.Equal(t, "12 of this client wait", Waiting(12))
}

func TestClock(t *testing.T) {
	east := time.FixedZone("east", 3600)
	now := time.Date(2026, 1, 2, 0, 30, 0, 0, east)
	for want, at := range map[string]time.Time{
		"00:10:00.500":            now.Add(-20*time.Minute + 500*time.Millisecond),
		"00:30:00.000":            now.UTC(),
		"2026-01-01 23:30:00.000": now.Add(-time.Hour),
		"2025-01-02 00:30:00.000": now.AddDate(-1, 0, 0),
	} {
		require.Equal(t, want, Clock(now, at))
	}
}
