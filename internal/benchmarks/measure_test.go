package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The page names the versions that the benchmarks run with, and not those of
// Debian's packages beside them.
func TestVersionsAreOfWhatTheBenchmarksFind(t *testing.T) {
	dir := t.TempDir()
	for _, jar := range []string{"zookeeper-9.8.7.jar", "zookeeper-jute-9.8.7.jar", "curator-recipes-6.5.4.jar", "curator-client-1.jar"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, jar), nil, 0o600))
	}
	t.Setenv("ZOOKEEPER_HOME", dir)
	t.Setenv("CURATOR_JAVA_JARS", dir)
	require.Contains(t, facts(), "zookeeper: 9.8.7")
	require.Contains(t, facts(), "curator: 6.5.4")
	require.NoError(t, os.Remove(filepath.Join(dir, "curator-recipes-6.5.4.jar")))
	require.Contains(t, facts(), "curator: unknown")
}
