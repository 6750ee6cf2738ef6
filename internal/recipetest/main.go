package recipetest

import (
	"errors"
	"testing"

	"github.com/gocurator/curator/internal/leaktest"
	"github.com/gocurator/curator/internal/thorough"
)

// parallelTests is how many parallel tests on real servers a program runs at the same
// time. Such tests mostly wait for the servers.
const parallelTests = 8

// closeShared are functions that close shared servers. Without the build tag real,
// tests share nothing.
var closeShared []func() error

// CloseShared ends the shared real servers. It is for a TestMain that cannot be Main.
func CloseShared() error {
	var errs []error
	for _, done := range closeShared {
		errs = append(errs, done())
	}
	return errors.Join(errs...)
}

// Main is a package's TestMain. It ends the shared real servers after the last
// test, and then looks for leaked goroutines.
func Main(m *testing.M) {
	thorough.Parallel(parallelTests)
	leaktest.Main(m, CloseShared)
}
