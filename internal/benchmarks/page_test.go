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

// Each benchmark has a table with rows, unless it says that it was never measured,
// and each line of the picture has points.
func TestPageLeavesNothingOut(t *testing.T) {
	t.Chdir("../..")
	text, err := os.ReadFile(resultsFile)
	require.NoError(t, err)
	r, err := parse(string(text))
	require.NoError(t, err)
	for _, c := range comparisons {
		require.Equal(t, c.unmeasured, len(r.of(c.benchmark)) == 0, c.title)
		for _, line := range r.of(c.benchmark) {
			for _, cost := range c.costs {
				if cost == "x-plain" || strings.HasPrefix(cost, "curator") {
					continue // some scenarios have no such side
				}
				require.Contains(t, line.metrics, cost, line.name)
			}
		}
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

func TestResultsAreParsed(t *testing.T) {
	r, err := parse("goos: linux\ndate: 2026-11-26\nBenchmarkA/x=1-2 \t 10\t 3.5 reqs\t 7 B\nPASS\nok  \tp\t1s\ngoos: plan9\n")
	require.NoError(t, err)
	require.Equal(t, results{
		facts: map[string]string{"goos": "linux", "date": "2026-11-26"},
		rows:  []row{{"A/x=1", map[string]float64{"reqs": 3.5, "B": 7}}},
	}, r)
	require.Len(t, r.of("A"), 1)
	require.Empty(t, r.of("B"))
}

// A part that is measured again leaves the others as they are.
func TestResultsHaveSections(t *testing.T) {
	require.Equal(t, map[string]string{"./a": "date: 1\nBenchmarkA 1 2 B\n", "./b": "PASS\n"},
		sections("command: go test ./a\ndate: 1\nBenchmarkA 1 2 B\n\ncommand: go test ./b\nPASS\n\n"))
	require.Empty(t, sections(""))
}

func TestResultThatIsCutOffIsAnError(t *testing.T) {
	for _, line := range []string{"BenchmarkA 1 2", "BenchmarkA 1 two reqs"} {
		_, err := parse(line)
		require.ErrorContains(t, err, line)
	}
}

// A scenario in which the peer is faster is listed, and the worst is first.
func TestWhatIsSlowerIsSaid(t *testing.T) {
	r := results{rows: []row{
		{"AgainstCurator/a", map[string]float64{"x-curator": 0.9}},
		{"AgainstCurator/b", map[string]float64{"x-curator": 1.1}},
		{"FirstSync/c", map[string]float64{"x-curator": 4}},
	}}
	require.Equal(t, "- The first state of a cache, c: 0.25.\n- Beside Java Curator's InterProcessMutex, a: 0.90.\n", behind(r))
	require.Equal(t, "In no scenario above.\n", behind(results{}))
}
