// Package kazootest finds a Python that has kazoo, for tests with a client in
// another language. Only tests import it.
package kazootest

import (
	"errors"
	"fmt"
	"os/exec"
	"sync"
)

var errNoKazoo = errors.New("kazoo is not installed: " +
	"install Debian's package python3-kazoo, or put a python3 that has it first in PATH")

// candidates are tried in this order: Debian's packages work with Debian's
// interpreter only.
var candidates = []string{"python3", "/usr/bin/python3"}

// found is the result of the search by the first test that needs kazoo.
var found = sync.OnceValues(func() (string, error) { return find(candidates) })

// TB is the part of testing.TB that Python uses.
type TB interface {
	Helper()
	Fatal(args ...any)
}

// Python returns a Python that has kazoo. It fails the test if there is none.
func Python(t TB) string {
	t.Helper()
	python, err := found()
	if err != nil {
		t.Fatal(err)
	}
	return python
}

// find returns the first interpreter that has kazoo.
func find(interpreters []string) (string, error) {
	err := errNoKazoo
	for _, python := range interpreters {
		out, failure := exec.Command(python, "-c", "import kazoo").CombinedOutput()
		if failure == nil {
			return python, nil
		}
		err = fmt.Errorf("%w (%s: %w\n%s)", err, python, failure, out)
	}
	return "", err
}
