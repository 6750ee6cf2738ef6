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
