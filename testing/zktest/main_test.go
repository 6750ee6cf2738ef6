package zktest

import (
	"testing"

	"github.com/gocurator/curator/internal/leaktest"
)

// closeShared are functions that close what tests share. Without the build tag
// real, tests share nothing.
var closeShared []func() error

// TestMain looks for leaked goroutines after the last test.
func TestMain(m *testing.M) { leaktest.Main(m, closeShared...) }
