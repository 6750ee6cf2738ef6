//go:build real

package zkserver

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Servers of one distribution use the archive that the first one has made. The
// ensemble has one of its own.
func TestArchiveIsMadeOnceAndUsed(t *testing.T) {
	t.Parallel()
	d, err := Find()
	check(t, err)
	cache := t.TempDir()
	cacheDir := func() (string, error) { return cache, nil }
	for _, ensemble := range []bool{false, true} {
		flags := archiveFlags(cacheDir, d, ensemble)
		path := archivePath(cacheDir, d, ensemble)
		require.Equal(t, []string{"-XX:SharedArchiveFile=" + path}, flags)
		first, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, flags, archiveFlags(cacheDir, d, ensemble))
		again, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, first.ModTime(), again.ModTime())

		servers := 0
		if ensemble {
			servers = 3
		}
		// With this flag, Java does not start if it cannot use the archive.
		c, err := newConfig([]Option{WithJVMFlags(append(flags, "-Xshare:on")...)})
		require.NoError(t, err)
		e, err := startOnce(c, d, servers, newMembers)
		require.NoError(t, err)
		require.NoError(t, e.Close())
	}
	files, err := os.ReadDir(filepath.Join(cache, cacheName))
	require.NoError(t, err)
	require.Len(t, files, 2, "something is left beside the archives")
}

func TestArchivePath(t *testing.T) {
	dir := t.TempDir()
	java, jar := filepath.Join(dir, "java"), filepath.Join(dir, "zookeeper.jar")
	write := func(path, text string) {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	write(java, "java")
	write(jar, "1")
	cacheDir := func() (string, error) { return "/cache", nil }
	d := &Distribution{Java: java, ClassPath: []string{jar}}
	path := archivePath(cacheDir, d, false)
	require.Equal(t, path, archivePath(cacheDir, d, false))
	require.NotEqual(t, path, archivePath(cacheDir, d, true))
	write(jar, "22")
	require.NotEqual(t, path, archivePath(cacheDir, d, false), "the jar has changed")

	d.ClassPath = append(d.ClassPath, dir)
	require.Empty(t, archivePath(cacheDir, d, false), "a directory in the class path")
	noCache := func() (string, error) { return "", errors.New("no home") }
	d.ClassPath = d.ClassPath[:1]
	require.Empty(t, archivePath(noCache, d, false))
	require.NoError(t, os.Chtimes(jar, time.Time{}, time.Unix(1, 0)))
	require.NoError(t, os.Remove(jar))
	require.Empty(t, archivePath(cacheDir, d, false))
}
