package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Nobody edits the page: it is what the results give.
func TestPageIsMadeFromTheResults(t *testing.T) {
	results, err := readResults(filepath.Join("..", "..", resultsFile))
	require.NoError(t, err)
	require.NotEmpty(t, results)
	text, err := os.ReadFile(filepath.Join("..", "..", pageFile))
	require.NoError(t, err)
	require.Equal(t, page(subjects(), results), string(text), "run .ci/compatibility -write")
}

// A result of a check that is no more would be kept for ever, and not be shown.
func TestEachResultIsOfACheck(t *testing.T) {
	results, err := readResults(filepath.Join("..", "..", resultsFile))
	require.NoError(t, err)
	for _, s := range subjects() {
		for _, c := range s.checks {
			results = slicesWithout(results, s, c)
		}
	}
	require.Empty(t, results)
}

func slicesWithout(rs results, s subject, c check) (rest results) {
	for _, r := range rs {
		if r.Kind != s.kind || r.Version != s.version || r.Check != c.name {
			rest = append(rest, r)
		}
	}
	return rest
}

func TestPage(t *testing.T) {
	checks := []check{{name: "tests"}, {name: "benchmarks"}}
	all := []subject{{"Go", "2", checks}, {"Go", "1", checks}}
	rs := results{
		{Kind: "Go", Version: "2", Check: "tests", Date: "2026-11-25", Passed: 3, Skipped: 1},
		{Kind: "Go", Version: "1", Check: "tests", Date: "2026-11-24", Passed: 3, Failed: []string{"TestA/b", "TestC"}},
	}
	require.Equal(t, `| Version | tests | benchmarks |
|---|---|---|
| 2 | passed, 3 tests, 1 skipped (2026-11-25) | *not run* |
| 1 | 2 of 5 tests failed (2026-11-24) | *not run* |

What has failed:

- 1, tests:
  `+"- `TestA/b`\n  - `TestC`\n", page(all, rs)[strings.Index(page(all, rs), "| Version"):])
}

func TestNewResultsReplaceOldOnes(t *testing.T) {
	old := results{{Kind: "Go", Version: "1", Check: "tests", Passed: 1}, {Kind: "Go", Version: "2", Check: "tests", Passed: 2}}
	require.Equal(t, results{
		{Kind: "Go", Version: "1", Check: "tests", Passed: 3},
		{Kind: "Go", Version: "2", Check: "tests", Passed: 2},
	}, old.with(result{Kind: "Go", Version: "1", Check: "tests", Passed: 3}))
	file := filepath.Join(t.TempDir(), "results.json")
	none, err := readResults(file)
	require.NoError(t, err)
	require.Empty(t, none)
	require.NoError(t, writeResults(file, old))
	again, err := readResults(file)
	require.NoError(t, err)
	require.Equal(t, old, again)
}

func TestCountOfTests(t *testing.T) {
	const output = `what the go command says
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Test":"TestA/real"}
{"Action":"pass","Package":"p","Test":"TestA/virtual"}
{"Action":"skip","Package":"p","Test":"TestB/real"}
{"Action":"fail","Package":"p","Test":"TestC/real"}
{"Action":"fail","Package":"p","Test":"TestC"}
{"Action":"fail","Package":"p","Test":"TestD"}
{"Action":"fail","Package":"p"}
{"Action":"fail","Package":"that/panics"}
{"Action":"pass","Package":"q"}
`
	var r result
	require.NoError(t, r.count([]byte(output), "/real"))
	require.Equal(t, result{Passed: 1, Skipped: 1, Failed: []string{"TestC/real", "TestD", "that/panics"}}, r)
	r = result{}
	require.NoError(t, r.count([]byte(output), ""))
	require.Equal(t, 2, r.Passed)
	require.Equal(t, "3 of 5 tests failed, 1 skipped", r.summary())
}

func TestSummaries(t *testing.T) {
	require.Equal(t, "passed, 2 tests", result{Passed: 2}.summary())
	require.Equal(t, "passed", result{}.summary())
	require.Equal(t, "failed", result{Failed: []string{"an error"}}.summary())
}

func TestSelection(t *testing.T) {
	require.True(t, selected("Go 1.26", nil))
	require.True(t, selected("Go 1.26", []string{"kazoo", "Go"}))
	require.False(t, selected("Go 1.26", []string{"1.26"}))
}

// What is named twice would have one result for both.
func TestSubjectsHaveNamesOfTheirOwn(t *testing.T) {
	names := map[string]bool{}
	for _, s := range subjects() {
		for _, c := range s.checks {
			name := s.name() + c.name
			require.False(t, names[name], name)
			names[name] = true
		}
		require.NotEmpty(t, about[s.kind])
	}
}

func TestFetchThatFailsLeavesNothing(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir()) // of macOS
	_, err := fetched("x", func(string) error { return os.ErrPermission })
	require.ErrorIs(t, err, os.ErrPermission)
	dir, err := fetched("x", func(dir string) error { return os.WriteFile(filepath.Join(dir, "a"), nil, 0o600) })
	require.NoError(t, err)
	again, err := fetched("x", func(string) error { t.Error("fetched again"); return nil })
	require.NoError(t, err)
	require.Equal(t, dir, again)
}
