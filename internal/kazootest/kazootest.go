// Package kazootest finds a Python that has kazoo, for tests with a client in
// another language. Only tests import it.
package kazootest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
)

// The environment: the interpreter, if python3 in PATH does not have kazoo, and
// the variable that makes a missing kazoo a failure.
const (
	envPython  = "CURATOR_PYTHON"
	envRequire = "CURATOR_REQUIRE_ZOOKEEPER"
)

var errNoKazoo = errors.New("kazoo is not installed: " +
	"install Debian's package python3-kazoo, or set " + envPython + " to a Python that has it")

// found is what the first test that needs kazoo has found.
var found = sync.OnceValues(func() (string, error) { return find(os.Getenv(envPython)) })

// TB is the part of testing.TB that Python uses.
type TB interface {
	Helper()
	Skip(args ...any)
	Fatal(args ...any)
}

// Python returns a Python that has kazoo. It skips the test if there is none,
// or fails it if the environment says that everything must be installed.
func Python(t TB) string {
	t.Helper()
	python, err := found()
	switch {
	case err == nil:
	case os.Getenv(envRequire) == "":
		t.Skip(err)
	default:
		t.Fatal(err)
	}
	return python
}

// find does not fall back from an interpreter that was named. Debian's packages
// work with Debian's interpreter only.
func find(asked string) (python string, err error) {
	candidates := []string{"python3", "/usr/bin/python3"}
	if asked != "" {
		candidates = []string{asked}
	}
	for _, candidate := range candidates {
		out, err := exec.Command(candidate, "-c", "import kazoo").CombinedOutput()
		if err == nil {
			return candidate, nil
		}
		if asked != "" {
			return "", fmt.Errorf("%w (%s: %w\n%s)", errNoKazoo, asked, err, out)
		}
	}
	return "", errNoKazoo
}
