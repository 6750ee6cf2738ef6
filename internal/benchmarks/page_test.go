package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Nobody edits the page or the picture by hand: what they say was measured.
func TestPageIsWrittenFromTheResults(t *testing.T) {
	t.Chdir("../..")
	text, err := os.ReadFile(resultsFile)
	require.NoError(t, err)
	r, err := parse(string(text))
	require.NoError(t, err)
	for file, want := range map[string]string{pageFile: page(r), plotFile: plot(r)} {
		have, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, want, string(have), "%s: go run ./internal/benchmarks", file)
	}
}

// Each row has its figures and is there once, each line of the picture has points, and what is not in
// a table is named as missing.
func TestPageLeavesNothingOut(t *testing.T) {
	t.Chdir("../..")
	text, err := os.ReadFile(resultsFile)
	require.NoError(t, err)
	r, err := parse(string(text))
	require.NoError(t, err)
	whole := page(r)
	require.LessOrEqual(t, strings.Count(whole, "\n"), 100)
	for _, c := range comparisons {
		require.Contains(t, whole, c.title)
	}
	seen := map[string]bool{}
	for _, line := range r.rows {
		require.False(t, seen[line.name], "two rows %s: measure the part of one of them again", line.name)
		seen[line.name] = true
		known := strings.HasPrefix(line.name, "Growth/")
		for _, c := range comparisons {
			known = known || strings.HasPrefix(line.name, c.benchmark+"/")
		}
		require.True(t, known, "%s is in no table", line.name)
	}
	sizes := map[string]int{}
	for _, line := range r.of("Growth") {
		name, n := crowdOf(line)
		require.Positive(t, n)
		sizes[name]++
	}
	for _, crowd := range crowds {
		require.GreaterOrEqual(t, sizes[crowd], 3, crowd)
	}
}

// A ratio has the range of the rounds behind it, if that is known, and is bold if
// the peer is ahead.
func TestRatiosHaveRanges(t *testing.T) {
	one := ratesBeside("etcd")[0]
	require.Equal(t, "2.00 (1.50 to 4.00)", one.text(map[string]float64{"x-etcd": 2, "x-etcd-from": 1.5, "x-etcd-to": 4}))
	require.Equal(t, "**0.50**", one.text(map[string]float64{"x-etcd": 0.5}))
	require.Equal(t, "0.50", ratio{unit: "cpu/zk.Lock", cost: true}.text(map[string]float64{"cpu/zk.Lock": 0.5}))
	require.Equal(t, "**2.00**", ratio{unit: "cpu/zk.Lock", cost: true}.text(map[string]float64{"cpu/zk.Lock": 2}))
	require.Empty(t, one.text(nil))
}
