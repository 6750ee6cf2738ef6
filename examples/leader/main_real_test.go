//go:build real

package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/gocurator/curator/internal/leaktest"
	"github.com/gocurator/curator/internal/thorough"
)

// TestMain turns the test binary into a worker if the program under test has
// started it as one.
func TestMain(m *testing.M) {
	if isWorker(os.Args) {
		os.Exit(workerMain(os.Args))
	}
	if os.Getenv("GORACE") == "" {
		// Otherwise each worker under the race detector waits a second at its
		// end.
		os.Setenv("GORACE", "atexit_sleep_ms=0")
	}
	thorough.Parallel(8)
	leaktest.Main(m)
}

// program runs the program with real worker processes.
func runProgram(t *testing.T, ctx context.Context, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = run(ctx, args, &out, &errs)
	t.Logf("leader %s: %d\n%s%s", strings.Join(args, " "), status, &out, &errs)
	return status, out.String(), errs.String()
}
