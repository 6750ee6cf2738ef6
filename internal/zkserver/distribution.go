package zkserver

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"sort"
	"strings"
)

// Environment variables. The package comment explains them.
const (
	envHome  = "ZOOKEEPER_HOME"
	envMaven = "CURATOR_ZOOKEEPER_MAVEN"
	envJava  = "JAVA_HOME"
)

// ErrNotInstalled is matched by the errors of this package if the machine has
// no ZooKeeper, or no Java to run it, and no environment variable names one.
// The error's text says what to install or to set.
var ErrNotInstalled = errors.New("zkserver: ZooKeeper is not installed: " +
	"install java and Debian's package zookeeper, " +
	"or set " + envHome + " to an unpacked distribution, " +
	"or set " + envMaven + " to a version that mvn shall fetch")

// Distribution is everything that is needed to run a ZooKeeper server.
type Distribution struct {
	Java      string   // the java command
	ClassPath []string // jars and directories, absolute, in order
	// ZooKeeper's version from the name of its jar, such as 3.8.0, or empty
	Version string
	Origin  string // the place that it was found at, for messages
}

// Find locates a distribution in the order that the package comment gives. It
// may fetch one if the environment asks for that, which can take minutes the
// first time.
func Find() (*Distribution, error) {
	return defaultFinder().find()
}

// finder is the part of the machine that the search depends on.
type finder struct {
	getenv   func(string) string
	lookPath func(string) (string, error)
	debian   string                 // the directory of Debian's jars
	cacheDir func() (string, error) // fetched jars are kept below it
}

func defaultFinder() finder {
	return finder{
		getenv:   os.Getenv,
		lookPath: exec.LookPath,
		debian:   "/usr/share/java",
		cacheDir: os.UserCacheDir,
	}
}

// find looks for the jars before it looks for Java. So a variable with a wrong
// value is reported on a machine without Java, too.
func (f finder) find() (*Distribution, error) {
	d, err := f.jars()
	if err != nil {
		return nil, err
	}
	if d.Java, err = f.java(); err != nil {
		return nil, err
	}
	return d, nil
}

func (f finder) jars() (*Distribution, error) {
	if home := f.getenv(envHome); home != "" {
		return fromHome(home)
	}
	if version := f.getenv(envMaven); version != "" {
		return f.fromMaven(version)
	}
	return fromDebian(f.debian)
}

func (f finder) java() (string, error) {
	home := f.getenv(envJava)
	if home == "" {
		path, err := f.lookPath("java")
		if err != nil {
			return "", fmt.Errorf("%w (no java in PATH)", ErrNotInstalled)
		}
		return path, nil
	}
	path, err := filepath.Abs(filepath.Join(home, "bin", "java"))
	if err != nil {
		return "", fmt.Errorf("zkserver: %s=%s: %w", envJava, home, err)
	}
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("zkserver: %s=%s holds no java: %w", envJava, home, err)
	}
	return path, nil
}

// fromHome accepts an unpacked distribution, which has its jars in lib, and a
// plain directory of jars.
func fromHome(home string) (*Distribution, error) {
	jars, err := jarsIn(home, filepath.Join(home, "lib"))
	if err != nil {
		return nil, fmt.Errorf("zkserver: %s=%s: %w", envHome, home, err)
	}
	version, ok := serverVersion(jars)
	if !ok {
		return nil, fmt.Errorf("zkserver: %s=%s holds no zookeeper-<version>.jar, "+
			"neither directly nor in lib", envHome, home)
	}
	return &Distribution{ClassPath: jars, Version: version, Origin: envHome + "=" + home}, nil
}

// undeclaredJars are the jars that a server needs and that the manifest of Debian's
// zookeeper.jar omits: a logger, and two jars that Netty needs for its first connection.
var undeclaredJars = []string{"slf4j-simple.jar", "netty-codec.jar", "netty-resolver.jar"}

// fromDebian relies on the manifest of the package's zookeeper.jar, which names almost
// every jar that it needs. The package depends on all these jars except the logger.
func fromDebian(dir string) (*Distribution, error) {
	server := filepath.Join(dir, "zookeeper.jar")
	if _, err := os.Stat(server); err != nil {
		return nil, ErrNotInstalled
	}
	classPath := []string{server}
	for _, name := range undeclaredJars {
		if jar := filepath.Join(dir, name); exists(jar) {
			classPath = append(classPath, jar)
		}
	}
	// The pattern is well-formed, so there is no error.
	links, _ := filepath.Glob(filepath.Join(dir, "zookeeper-*.jar"))
	version, _ := serverVersion(links)
	return &Distribution{ClassPath: classPath, Version: version, Origin: "Debian package zookeeper"}, nil
}

// jarsIn returns the absolute paths of the jars in dirs, sorted within each
// directory. Only the first directory has to exist.
func jarsIn(dirs ...string) ([]string, error) {
	var jars []string
	for i, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if errors.Is(err, fs.ErrNotExist) && i > 0 {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			if strings.HasSuffix(entry.Name(), ".jar") {
				jars = append(jars, filepath.Join(dir, entry.Name()))
			}
		}
	}
	return absolute(jars)
}

// absolute makes paths absolute, because the server runs in its own directory.
func absolute(paths []string) ([]string, error) {
	for i, path := range paths {
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		paths[i] = abs
	}
	return paths, nil
}

// serverJar matches the jar of the server, but not its siblings such as
// zookeeper-jute-3.8.0.jar.
var serverJar = regexp.MustCompile(`^zookeeper(?:-(\d[^/]*))?\.jar$`)

// serverVersion reports whether the server's jar is among jars, and which
// version its name has.
func serverVersion(jars []string) (version string, found bool) {
	sorted := append([]string(nil), jars...)
	sort.Strings(sorted)
	for _, jar := range sorted {
		if m := serverJar.FindStringSubmatch(filepath.Base(jar)); m != nil {
			version, found = max(version, m[1]), true
		}
	}
	return version, found
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
