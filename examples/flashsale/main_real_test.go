//go:build real

package main

import (
	"os"
	"testing"

	"github.com/gocurator/curator/internal/leaktest"
	"github.com/gocurator/curator/internal/thorough"
)

// TestMain turns the test binary into a worker if the program under test has
// started it as one.
func TestMain(m *testing.M) {
	if isWorker(os.Args) {
		os.Exit(workerMain())
	}
	if os.Getenv("GORACE") == "" {
		// Otherwise each worker under the race detector waits a second at its
		// end.
		os.Setenv("GORACE", "atexit_sleep_ms=0")
	}
	thorough.Parallel(8)
	leaktest.Main(m)
}
