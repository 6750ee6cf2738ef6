package framework_test

import (
	"testing"

	"github.com/gocurator/curator/internal/leaktest"
	"github.com/gocurator/curator/internal/thorough"
)

// closeShared are functions that close what tests share. Without the build tag
// real, tests share nothing.
var closeShared []func() error

func TestMain(m *testing.M) {
	thorough.Parallel(32) // tests on real servers mostly wait
	leaktest.Main(m, closeShared...)
}
