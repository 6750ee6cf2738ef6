//go:build real

package main

import (
	"testing"
	"time"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/leaktest"
	"github.com/gocurator/curator/internal/thorough"
)

// TestMain turns the test binary into a worker if the program under test has
// started it as one. The sessions survive pauses of a busy machine.
func TestMain(m *testing.M) {
	sessionTimeout = 8 * time.Second
	demo.BeforeTests(work, framework.WithSessionTimeout(sessionTimeout))
	thorough.Parallel(8)
	leaktest.Main(m)
}
