//go:build real

package interop_test

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// compiled returns the directory of the compiled files in the folder java, and in
// some folders below it. It compiles them only if nobody has done so before: the
// compiler takes as long as many of the tests. The classes are kept in the user's
// cache directory, under a name that stands for all that they depend on.
func compiled(javac string, jars []string, folders ...string) (string, error) {
	var sources []string
	for _, folder := range append([]string{"."}, folders...) {
		some, err := filepath.Glob(filepath.Join("java", folder, "*.java"))
		if err != nil {
			return "", err
		}
		sources = append(sources, some...)
	}
	name, err := cacheName(javac, sources, jars)
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return compileInto(filepath.Join(cache, "curator-interop"), name, javac, sources, jars)
}

// compileInto makes the directory complete before it gets its name. So another
// test run sees all classes or none.
func compileInto(cache, name, javac string, sources, jars []string) (string, error) {
	classes := filepath.Join(cache, name)
	if _, err := os.Stat(classes); err == nil {
		return classes, nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	work, err := os.MkdirTemp(cache, "new-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	args := []string{"-proc:none", "-d", work, "-cp", strings.Join(jars, string(os.PathListSeparator))}
	compile := exec.Command(javac, append(args, sources...)...)
	if out, err := compile.CombinedOutput(); err != nil {
		return "", fmt.Errorf("interop: %v: %w\n%s", compile, err, out)
	}
	err = os.Rename(work, classes)
	if _, there := os.Stat(classes); there == nil {
		return classes, nil // by this run or by another at the same time
	}
	return "", err
}

// cacheName depends on the contents of the sources, and on the path, size and
// time of the compiler and of the jars.
func cacheName(javac string, sources, jars []string) (string, error) {
	sum := sha256.New()
	for _, path := range sources {
		file, err := os.Open(path)
		if err != nil {
			return "", err
		}
		_, err = io.Copy(sum, file)
		file.Close()
		if err != nil {
			return "", err
		}
	}
	for _, path := range append([]string{javac}, jars...) {
		info, err := os.Stat(path)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(sum, path, info.Size(), info.ModTime().UnixNano())
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:16]), nil
}

// What the classes depend on has a part in the name, and nothing half-done is
// left under it.
func TestCompiledClassesAreKept(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	sources := []string{write("A.java", "class A {}")}
	compiler, jar := write("javac", ""), write("one.jar", "")
	nameOf := func() string {
		name, err := cacheName(compiler, sources, []string{jar})
		require.NoError(t, err)
		return name
	}
	names := map[string]bool{nameOf(): true}
	require.True(t, names[nameOf()], "the same inputs have the same name")
	write("A.java", "class A { }")
	names[nameOf()] = true
	write("one.jar", "new")
	names[nameOf()] = true
	write("javac", "new")
	names[nameOf()] = true
	require.Len(t, names, 4)

	const noCompiler = "no-such-compiler"
	cache := filepath.Join(dir, "cache")
	_, err := compileInto(cache, "x", noCompiler, sources, nil)
	require.Error(t, err)
	entries, err := os.ReadDir(cache)
	require.NoError(t, err)
	require.Empty(t, entries)
	require.NoError(t, os.Mkdir(filepath.Join(cache, "x"), 0o755))
	classes, err := compileInto(cache, "x", noCompiler, sources, nil)
	require.NoError(t, err, "these classes need no compiler")
	require.Equal(t, filepath.Join(cache, "x"), classes)
}
