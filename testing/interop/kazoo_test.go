package interop_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest"
)

// kazooScenarios are the scenarios of python/recipes.py. A line that is missing
// in its output is a failure, too.
var kazooScenarios = []string{
	"basics", "chroot", "commands", "watches", "data_and_children_watch", "lock",
	"read_write_lock", "semaphore", "election", "counter", "barrier", "double_barrier",
	"party", "queue", "locking_queue", "lease", "transactions", "auth", "session_loss",
	"reconnection", "lock_of_a_lost_session", "large_data",
}

// Python's kazoo works on zktest with all of its recipes. The same scenarios on
// a real server show that their expectations are right.
func TestKazooRecipes(t *testing.T) {
	python := kazoo.get(t)
	t.Parallel()
	t.Run("zktest", func(t *testing.T) {
		t.Parallel()
		srv := zktest.Start(t, zktest.WithTCP("127.0.0.1:0"))
		runKazoo(t, python, srv.Addr())
	})
	t.Run("real", func(t *testing.T) {
		t.Parallel()
		runKazoo(t, python, sharedServer(t).Addr())
	})
}

// runKazoo runs each scenario as a subtest.
func runKazoo(t *testing.T, python, addr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 6*time.Minute)
	defer cancel()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, python, filepath.Join("python", "recipes.py"), addr)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("%v: %v\n%s", cmd, err, &stderr)
	}
	results := make(map[string]string)
	for line := range strings.Lines(string(out)) {
		verdict, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		name, problem, _ := strings.Cut(rest, ": ")
		results[name] = strings.TrimSpace(verdict + " " + strings.ReplaceAll(problem, " | ", "\n"))
	}
	for _, name := range kazooScenarios {
		t.Run(name, func(t *testing.T) { require.Equal(t, "ok", results[name]) })
	}
	require.Len(t, results, len(kazooScenarios)+1, "the scenarios that are known here, and the end")
}

// envPython names the interpreter, if python3 in PATH does not have kazoo.
const envPython = "CURATOR_PYTHON"

var errNoKazoo = errors.New("interop: kazoo is not installed: " +
	"install Debian's package python3-kazoo, or set " + envPython + " to a Python that has it")

// kazoo is found by the first test that needs it.
var kazoo lazyPython

type lazyPython struct {
	once   sync.Once
	python string
	err    error
}

// get skips the test if kazoo is missing, or fails it if the environment says
// that everything must be installed.
func (l *lazyPython) get(t *testing.T) string {
	t.Helper()
	l.once.Do(func() { l.python, l.err = findKazoo(os.Getenv(envPython)) })
	if l.err != nil && os.Getenv(envRequire) == "" {
		t.Skip(l.err)
	}
	require.NoError(t, l.err)
	return l.python
}

// findKazoo does not fall back from an interpreter that was named. Debian's
// packages work with Debian's interpreter only.
func findKazoo(asked string) (python string, err error) {
	candidates := []string{"python3", "/usr/bin/python3"}
	if asked != "" {
		candidates = []string{asked}
	}
	for _, candidate := range candidates {
		if out, err := exec.Command(candidate, "-c", "import kazoo").CombinedOutput(); err == nil {
			return candidate, nil
		} else if asked != "" {
			return "", fmt.Errorf("%w (%s: %w\n%s)", errNoKazoo, asked, err, out)
		}
	}
	return "", errNoKazoo
}

func TestFindKazooDoesNotFallBack(t *testing.T) {
	_, err := findKazoo(filepath.Join(t.TempDir(), "python"))
	require.ErrorIs(t, err, errNoKazoo)
	require.ErrorIs(t, err, os.ErrNotExist)
}
