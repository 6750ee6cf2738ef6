//go:build real

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The page names the versions that the benchmarks run with, and not those of
// Debian's packages beside them.
func TestVersionsAreOfWhatTheBenchmarksFind(t *testing.T) {
	dir := t.TempDir()
	for _, jar := range []string{"zookeeper-9.8.7.jar", "zookeeper-jute-9.8.7.jar"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, jar), nil, 0o600))
	}
	t.Setenv("ZOOKEEPER_HOME", dir)
	t.Setenv(envMaven, "9.8.7")
	require.Contains(t, facts(), "zookeeper: 9.8.7")
	require.Contains(t, facts(), "curator: "+newestCurator)
}

// goPrints makes a go command that prints a text, and the environment in which it
// runs.
func goPrints(t *testing.T, text string) {
	if runtime.GOOS == "windows" {
		t.Skip("the command is a script")
	}
	dir := t.TempDir()
	script := "#!/bin/sh\necho $@\necho '" + text + "'\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go"), []byte(script), 0o700))
	t.Setenv("PATH", dir)
}

// A benchmark that is skipped prints no row, and does not fail. It takes away
// nothing of what was measured before.
func TestPartWithoutARowFails(t *testing.T) {
	goPrints(t, "BenchmarkA\nPASS")
	text, err := run(part{"a", "./a"})
	require.ErrorIs(t, err, errNoRow)
	require.Contains(t, text, "-tags real", "what is missing is a failure, and no reason to skip")
	goPrints(t, "BenchmarkA 1 2 B\nPASS")
	_, err = run(part{"a", "./a"})
	require.NoError(t, err)
}

// What a part has printed that fails is not in the results, but in a file.
func TestWhatAPartPrintedThatFailsIsKept(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("TMP", os.Getenv("TMPDIR")) // of Windows
	said := kept("BenchmarkA 1 2 B\n")
	_, file, found := strings.Cut(said, "printed is in ")
	require.True(t, found, said)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "BenchmarkA 1 2 B\n", string(text))
}

// A row that was measured in another part once is in the results once.
func TestRowIsOnlyInThePartThatWasMeasuredLast(t *testing.T) {
	printed := map[string]string{"curator": "date: 1\nBenchmarkA/a-2 1 2 B\nBenchmarkA/b-2 1 2 B\nPASS\n", "cache": "date: 1\n"}
	dropRows(printed, "date: 2\nBenchmarkA/b-2 1 3 B\nPASS\n")
	require.Equal(t, map[string]string{"curator": "date: 1\nBenchmarkA/a-2 1 2 B\nPASS\n", "cache": "date: 1\n"}, printed)
}

// What one part prints is written, and a part that fails leaves what it had, and
// does not stop the others.
func TestPartThatFailsStopsNoOther(t *testing.T) {
	before := parts
	t.Cleanup(func() { parts = before })
	t.Setenv(envMaven, "")
	t.Setenv("PATH", t.TempDir()) // there is no go command
	t.Setenv("TMPDIR", t.TempDir())
	parts = []part{{"a", "./a"}, {"b", "./b"}}
	file := filepath.Join(t.TempDir(), "results.txt")
	require.NoError(t, os.WriteFile(file, []byte("part: a\nBenchmarkA 1 2 B\n\n"), 0o600))
	err := measure(regexp.MustCompile("."), file)
	require.ErrorContains(t, err, "a: ")
	require.ErrorContains(t, err, "b: ")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "part: a\nBenchmarkA 1 2 B\n\n", string(text))

	require.ErrorContains(t, measure(regexp.MustCompile("^c$"), file), "no part matches ^c$")
}

func TestPartsHaveNamesOfTheirOwn(t *testing.T) {
	known := map[string]bool{}
	for _, p := range parts {
		require.False(t, known[p.name], p.name)
		known[p.name] = true
		require.True(t, strings.HasPrefix(p.args, "./"), p.args)
	}
}

func TestVersionsOfThePeersInGo(t *testing.T) {
	t.Chdir("../..")
	for _, module := range []string{"go.etcd.io/etcd/client/v3", "github.com/redis/rueidis"} {
		require.Regexp(t, `^\d+\.\d+\.\d+$`, versionFor(module), module)
	}
	require.Equal(t, unknown, versionFor("example.org/none"))
	require.Equal(t, unknown, clientOf(unknown, "github.com/redis/rueidis"), "there is no server")
	require.NotEqual(t, unknown, clientOf("7.0.15", "github.com/redis/rueidis"))
	require.Equal(t, "3.4.23", numberIn("etcd Version: 3.4.23\nGit SHA: none"))
}
