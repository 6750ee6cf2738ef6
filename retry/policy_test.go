package retry_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/retry"
)

// pauses returns the first n pauses of one run of a policy, or all if there are
// fewer.
func pauses(p retry.Policy, n int) []time.Duration {
	var list []time.Duration
	for b := p(); len(list) < n; {
		pause := b.NextBackOff()
		if pause == backoff.Stop {
			break
		}
		list = append(list, pause)
	}
	return list
}

// Every policy without jitter, pause by pause.
func TestFormulas(t *testing.T) {
	const s = time.Second
	for name, tc := range map[string]struct {
		policy retry.Policy
		want   []time.Duration // at most 4
	}{
		"none":         {retry.None(), nil},
		"once":         {retry.Once(s), []time.Duration{s}},
		"once at once": {retry.Once(0), []time.Duration{0}},
		"n":            {retry.N(3, s), []time.Duration{s, s, s}},
		"n of one":     {retry.N(1, s), []time.Duration{s}},
		"forever":      {retry.Forever(s), []time.Duration{s, s, s, s}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tc.want, pauses(tc.policy, 4))
		})
	}
}

// Jitter adds or takes up to half of a pause. Both extremes occur.
func TestJitterReachesItsBoundsAndNotBeyond(t *testing.T) {
	const runs = 4000
	const m, h = time.Minute, time.Hour
	type list = []time.Duration
	for name, tc := range map[string]struct {
		policy retry.Policy
		want   list // without jitter
	}{
		"exponential":                {retry.Exponential(64, 6), list{64, 128, 256, 512, 1024, 2048}},
		"exponential, up to an hour": {retry.Exponential(20*m, 4), list{20 * m, 40 * m, h, h}},
		"exponential from an hour":   {retry.Exponential(3*h, 2), list{h, h}},
		"bounded":                    {retry.BoundedExponential(64, 300, 4), list{64, 128, 256, 300}},
		"bounded below its base":     {retry.BoundedExponential(400, 300, 2), list{300, 300}},
		"bounded at its base":        {retry.BoundedExponential(300, 300, 2), list{300, 300}},
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
		for name, p := range map[string]struct {
			policy  retry.Policy
			longest time.Duration // without jitter
		}{
			"exponential": {retry.Exponential(base, n), time.Hour},
			"bounded":     {retry.BoundedExponential(base, longest, n), longest},
		} {
			got := pauses(p.policy, most)
			require.Len(t, got, max(0, min(n, most)), "%s(%d, %d, %d)", name, base, longest, n)
			limit := 1.5*float64(p.longest) + 1 // 1 for rounding
			for i, pause := range got {
				if pause < 0 || float64(pause) > limit {
					t.Fatalf("%s(%d, %d, %d): pause %d is %d", name, base, longest, n, i, pause)
				}
			}
		}
	}
}
