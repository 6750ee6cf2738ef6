//go:build real

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// The page names the versions that the benchmarks run with, and not the versions of
// Debian's packages.
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
