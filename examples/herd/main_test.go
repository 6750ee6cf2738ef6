package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// program runs the program.
func runProgram(t *testing.T, ctx context.Context, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = run(ctx, args, &out, &errs)
	t.Logf("herd %s: %d\n%s%s", strings.Join(args, " "), status, &out, &errs)
	return status, out.String(), errs.String()
}

// measured returns the costs of all designs, in their order.
func measureProgram(t *testing.T, args ...string) []cost {
	t.Helper()
	cfg, err := parse(args, t.Output())
	require.NoError(t, err)
	costs, err := measureAll(t.Context(), cfg)
	require.NoError(t, err)
	report(t.Output(), costs)
	return costs
}

// expectedCounts are the exact counts of each design, without bytes, for any
// number of waiters.
var expectedCounts = []func(n int) (release, arrival counts){
	func(n int) (release, arrival counts) {
		// All try again, and all but one watch.
		release = counts{woken: n, events: n, requests: 1 + n + (n - 1)}
		return release, counts{requests: 2}
	},
	func(n int) (release, arrival counts) {
		release = counts{woken: n, events: n, requests: 1 + n}
		// The holder is woken, too, and ignores that.
		return release, counts{woken: n, events: n, requests: 1 + 1 + (n - 1)}
	},
	func(n int) (release, arrival counts) {
		// Delete, and the one behind the next holder watches its own node. On average,
		// one lists the queue, too.
		release = counts{woken: 2, events: 2, requests: 2}
		// Create, list, watch.
		arrival = counts{requests: 3}
		if n <= 2 {
			// A newcomer that is the next watches its own node, and one that is the
			// third watches the holder. The next holder is told that its own node is
			// gone when it releases the lock.
			release = counts{woken: n + 1, events: n + 1, requests: n}
			arrival.requests++
		}
		return release, arrival
	},
}

func expectedCosts(waiters ...int) (want []cost) {
	for i, d := range designs {
		for _, n := range waiters {
			release, arrival := expectedCounts[i](n)
			want = append(want, cost{d.name, n, release, arrival})
		}
	}
	return want
}

func withoutBytes(costs []cost) []cost {
	for i := range costs {
		costs[i].release.bytes, costs[i].arrival.bytes = 0, 0
	}
	return costs
}

// This test uses virtual time, in which a slow machine does not make a lock
// seem to be held for long. In a queue that all watch, each client lists all
// names, so the bytes grow with the square of the waiters.
func TestHerd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := measureProgram(t, "-waiters", "1,2,20,200")
		bytes := map[string]map[int]int{}
		for _, c := range got {
			if bytes[c.design] == nil {
				bytes[c.design] = map[int]int{}
			}
			bytes[c.design][c.waiters] = c.release.bytes
		}
		growth := func(d design) float64 { return float64(bytes[d.name][200]) / float64(bytes[d.name][20]) }
		require.InDelta(t, 10, growth(designs[0]), 1)
		require.InDelta(t, 75, growth(designs[1]), 25)
		require.InDelta(t, 5, growth(designs[2]), 2, "one list of names at some of the releases")
		require.Equal(t, expectedCosts(1, 2, 20, 200), withoutBytes(got))
	})
}

func TestStory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		status, out, errs := runProgram(t, t.Context())
		require.Equal(t, done, status)
		require.Empty(t, errs)
		require.Regexp(t, `InterProcessMutex +200 +2 +2 +2 +`, out)
		require.LessOrEqual(t, strings.Count(out, "\n"), 25, "one screen")
	})
}
