//go:build real

package curatorjars

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// mavenMakes makes an mvn that leaves one file in the directory of the jars.
func mavenMakes(t *testing.T, jar string) {
	if runtime.GOOS == "windows" {
		t.Skip("the command is a script")
	}
	dir := t.TempDir()
	script := "#!/bin/sh\nfor last; do :; done\nto=${last#-DoutputDirectory=}\nmkdir \"$to\" && : >\"$to/" + jar + "\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "mvn"), []byte(script), 0o700))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// There is no directory without Curator's jar: the caller would take what else is
// installed for the version that it has asked for.
func TestJarsWithoutCuratorAreAnError(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("HOME", cache) // of macOS
	mavenMakes(t, "curator-recipes-9.8.6.jar")
	_, err := Fetch(t.Context(), "9.8.7")
	require.ErrorContains(t, err, "curator-recipes-9.8.7.jar")

	mavenMakes(t, "curator-recipes-9.8.7.jar")
	dir, err := Fetch(t.Context(), "9.8.7")
	require.NoError(t, err, "what was wrong before is gone")
	require.FileExists(t, filepath.Join(dir, "curator-recipes-9.8.7.jar"))
	again, err := Fetch(t.Context(), "9.8.7")
	require.NoError(t, err)
	require.Equal(t, dir, again)
}
