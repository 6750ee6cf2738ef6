package retry

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/stretchr/testify/require"
)

// pauses returns the first n pauses of one run of a policy, or all if there are
// fewer.
func pauses(p Policy, n int) []time.Duration {
	var list []time.Duration
	for b := p.schedule(); len(list) < n; {
		pause := b.NextBackOff()
		if pause == backoff.Stop {
			break
		}
		list = append(list, pause)
	}
	return list
}

// Jitter adds or takes up to half of a pause. Both extremes occur.
func TestJitterReachesItsBoundsAndNotBeyond(t *testing.T) {
	const runs = 4000
	type list = []time.Duration
	for name, tc := range map[string]struct {
		policy Policy
		want   list // without jitter
	}{
		"longer and longer":      {Exponential(64, time.Hour, 6), list{64, 128, 256, 512, 1024, 2048}},
		"bounded":                {Exponential(64, 300, 4), list{64, 128, 256, 300}},
		"bounded below its base": {Exponential(400, 300, 2), list{300, 300}},
		"bounded at its base":    {Exponential(300, 300, 2), list{300, 300}},
	} {
		t.Run(name, func(t *testing.T) {
			shortest, longest := make([]time.Duration, len(tc.want)), make([]time.Duration, len(tc.want))
			for run := range runs {
				got := pauses(tc.policy, 100)
				require.Len(t, got, len(tc.want))
				for i, pause := range got {
					if run == 0 {
						shortest[i] = pause
					}
					shortest[i], longest[i] = min(shortest[i], pause), max(longest[i], pause)
				}
			}
			for i, want := range tc.want {
				require.GreaterOrEqual(t, shortest[i], want/2, "pause %d", i)
				require.LessOrEqual(t, longest[i], want+want/2, "pause %d", i)
				require.InDelta(t, want/2, shortest[i], float64(want)/20, "pause %d", i)
				require.InDelta(t, want+want/2, longest[i], float64(want)/20, "pause %d", i)
			}
		})
	}
}

// For all arguments: a pause is not negative, a pause is not longer than its
// bound with jitter, and there are no more pauses than the arguments say.
func TestPausesNeverExceedTheirBounds(t *testing.T) {
	random := func() time.Duration { return time.Duration(rand.Int64() >> rand.IntN(63)) }
	const most = 80
	for range 20000 {
		base, longest, n := random(), random(), rand.IntN(100)-10
		got := pauses(Exponential(base, longest, n), most)
		require.Len(t, got, max(0, min(n, most)), "%d, %d, %d", base, longest, n)
		limit := 1.5*float64(longest) + 1 // 1 for rounding
		for i, pause := range got {
			if pause < 0 || float64(pause) > limit {
				t.Fatalf("%d, %d, %d: pause %d is %d", base, longest, n, i, pause)
			}
		}
	}
}
