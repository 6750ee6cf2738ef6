//go:build real

package zkserver

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// fakeMachine returns a finder that sees only one directory, and that
// directory. The files in it are empty.
func fakeMachine(t *testing.T, env map[string]string, files ...string) (finder, string) {
	t.Helper()
	root := t.TempDir()
	for _, file := range files {
		path := filepath.Join(root, filepath.FromSlash(file))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, nil, 0o644))
	}
	return finder{
		getenv: func(name string) string {
			if value := env[name]; value != "" && name != envMaven {
				return filepath.Join(root, value)
			}
			return env[name]
		},
		lookPath: func(name string) (string, error) {
			path := filepath.Join(root, "bin", name)
			if !exists(path) {
				return "", fs.ErrNotExist
			}
			return path, nil
		},
		debian:   filepath.Join(root, "debian"),
		cacheDir: func() (string, error) { return filepath.Join(root, "cache"), nil },
	}, root
}

func TestFind(t *testing.T) {
	java := "jdk/bin/java"
	if runtime.GOOS == "windows" {
		java += ".exe"
	}
	files := []string{
		"bin/java", java,
		"home/lib/zookeeper-3.9.1.jar", "home/lib/zookeeper-jute-3.9.1.jar", "home/conf/zoo.cfg",
		"flat/zookeeper-3.7.2.jar", "flat/other.jar",
		"empty/zookeeper-jute-3.9.1.jar",
		"debian/zookeeper.jar", "debian/zookeeper-3.8.0.jar", "debian/zookeeper-jute-3.8.0.jar", "debian/slf4j-simple.jar",
		"cache/curator-zkserver/zookeeper-3.9.3/zookeeper-3.9.3.jar",
	}
	tests := []struct {
		name      string
		env       map[string]string
		version   string
		classPath []string
		java      string
	}{
		{"Debian", nil, "3.8.0", []string{"debian/zookeeper.jar", "debian/slf4j-simple.jar"}, "bin/java"},
		{"Maven's cache before Debian", map[string]string{envMaven: "3.9.3"}, "3.9.3",
			[]string{"cache/curator-zkserver/zookeeper-3.9.3/zookeeper-3.9.3.jar"}, "bin/java"},
		{"home before all", map[string]string{envHome: "home", envMaven: "3.9.3"}, "3.9.1",
			[]string{"home/lib/zookeeper-3.9.1.jar", "home/lib/zookeeper-jute-3.9.1.jar"}, "bin/java"},
		{"home of jars", map[string]string{envHome: "flat"}, "3.7.2",
			[]string{"flat/other.jar", "flat/zookeeper-3.7.2.jar"}, "bin/java"},
		{"JAVA_HOME", map[string]string{envJava: "jdk"}, "3.8.0",
			[]string{"debian/zookeeper.jar", "debian/slf4j-simple.jar"}, java},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, root := fakeMachine(t, tt.env, files...)
			d, err := f.find()
			require.NoError(t, err)
			require.Equal(t, tt.version, d.Version)
			require.Equal(t, filepath.Join(root, tt.java), d.Java)
			var want []string
			for _, path := range tt.classPath {
				want = append(want, filepath.Join(root, path))
			}
			require.Equal(t, want, d.ClassPath)
			require.NotEmpty(t, d.Origin)
		})
	}
}

// The command mvn is a script here. The files that it leaves in the output
// directory become the cache entry, and its output becomes the error.
func TestFetch(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	const succeed = `#!/bin/sh
for arg; do case $arg in -DoutputDirectory=*) out=${arg#*=};; esac; done
mkdir -p "$out" && : > "$out/zookeeper-3.9.3.jar"
`
	f, root := fakeMachine(t, map[string]string{envMaven: "3.9.3"}, "bin/java", "bin/mvn")
	mvn := filepath.Join(root, "bin/mvn")
	require.NoError(t, os.WriteFile(mvn, []byte("#!/bin/sh\necho no such version; exit 1\n"), 0o755))
	require.NoError(t, os.Chmod(mvn, 0o755))
	_, err := f.find()
	require.ErrorContains(t, err, "no such version")

	require.NoError(t, os.WriteFile(mvn, []byte(succeed), 0o755))
	d, err := f.find()
	require.NoError(t, err)
	require.Equal(t, "3.9.3", d.Version)
	entries, err := os.ReadDir(filepath.Join(root, "cache/curator-zkserver"))
	require.NoError(t, err)
	require.Len(t, entries, 1, "nothing but the result stays in the cache")
}
