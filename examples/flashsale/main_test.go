package main

import (
	"os"
	"testing"

	"github.com/gocurator/curator/internal/leaktest"
)

// TestMain makes the test binary a worker when the program under test starts itself as one.
func TestMain(m *testing.M) {
	if isWorker(os.Args) {
		os.Exit(workerMain())
	}
	if os.Getenv("GORACE") == "" {
		// Workers under the race detector would each wait a second at their end.
		os.Setenv("GORACE", "atexit_sleep_ms=0")
	}
	leaktest.Main(m)
}
