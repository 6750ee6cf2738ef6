//go:build real

package interop_test

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/kazootest"
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
	python := kazootest.Python(t)
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
