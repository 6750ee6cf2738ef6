//go:build real

package interop_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// envJava is an environment variable. The package comment explains it.
const envJava = "JAVA_HOME"

var curatorVersion = flag.String("curator", "", "the version of Java Curator that Maven fetches, instead of Debian's")

// debianJars have manifests that name all jars that Curator needs, except for a
// logger.
var debianJars = []string{"/usr/share/java/curator-recipes.jar", "/usr/share/java/curator-x-discovery.jar"}

const debianLogger = "/usr/share/java/slf4j-simple.jar"

// curatorPOM asks for a version of Curator, and for a logger.
const curatorPOM = `<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>interop</groupId>
  <artifactId>interop</artifactId>
  <version>1</version>
  <dependencies>
    <dependency><groupId>org.apache.curator</groupId><artifactId>curator-recipes</artifactId><version>%[1]s</version></dependency>
    <dependency><groupId>org.apache.curator</groupId><artifactId>curator-x-discovery</artifactId><version>%[1]s</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>1.7.30</version></dependency>
  </dependencies>
</project>
`

var errNotInstalled = errors.New("interop: Java Curator is not installed: " +
	"install a JDK (java and javac) and Debian's packages libcurator-recipes-java " +
	"and libcurator-discovery-java, " +
	"or name a version that Maven fetches: -args -curator 5.9.0")

// installation is everything that runs the Java peer.
type installation struct {
	java      string
	classPath string // the compiled peer first
}

// command runs Peer.java with the given flags for the virtual machine.
func (i installation) command(flags []string, args ...string) *exec.Cmd {
	words := append(slices.Clone(flags),
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", i.classPath, "Peer")
	return exec.Command(i.java, append(words, args...)...)
}

// javaCurator is found and compiled by the first test that needs it.
var javaCurator = &lazyInstallation{}

type lazyInstallation struct {
	once  sync.Once
	found installation
	err   error
}

// get fails the test if something is not installed.
func (l *lazyInstallation) get(t testing.TB) installation {
	t.Helper()
	l.once.Do(func() { l.found, l.err = install() })
	if l.err != nil {
		t.Fatal(l.err)
	}
	return l.found
}

func install() (inst installation, err error) {
	javac, err := javaCommand("javac")
	if err != nil {
		return inst, err
	}
	if inst.java, err = javaCommand("java"); err != nil {
		return inst, err
	}
	jars, err := findJars(*curatorVersion)
	if err != nil {
		return inst, err
	}
	classes, err := compiled(javac, jars)
	if err != nil {
		return inst, err
	}
	inst.classPath = strings.Join(append([]string{classes}, jars...), string(os.PathListSeparator))
	return inst, nil
}

func javaCommand(name string) (string, error) {
	if home := os.Getenv(envJava); home != "" {
		name = filepath.Join(home, "bin", name)
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%w (%w)", errNotInstalled, err)
	}
	return path, nil
}

// findJars returns the jars of a version of Curator, or Debian's if none is named.
func findJars(version string) ([]string, error) {
	if version == "" {
		for _, jar := range debianJars {
			if _, err := os.Stat(jar); err != nil {
				return nil, fmt.Errorf("%w (%w)", errNotInstalled, err)
			}
		}
		// The class path may name a missing jar.
		return append(slices.Clone(debianJars), debianLogger), nil
	}
	dir, err := fetchJars(fmt.Sprintf(curatorPOM, version))
	if err != nil {
		return nil, err
	}
	return filepath.Glob(filepath.Join(dir, "*.jar"))
}
