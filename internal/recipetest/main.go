package recipetest

import (
	"testing"

	"github.com/gocurator/curator/internal/leaktest"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/testing/zkserver"
)

// Tests that are parallel mostly wait for real servers, so that many of them
// fit beside each other. Each server is a JVM, whose start costs as much as
// many tests, so that there are few.
const (
	parallelTests     = 8
	parallelServers   = 2
	parallelEnsembles = 1
)

// Main is a package's TestMain. It ends the shared real servers after the last
// test, and then looks for leaked goroutines.
func Main(m *testing.M) {
	thorough.Parallel(parallelTests)
	leaktest.Main(m, zkserver.CloseShared)
}

// Tests take turns with servers, so that the next test gets the server of an
// earlier one.
var (
	realServers   = make(turns, parallelServers)
	realEnsembles = make(turns, parallelEnsembles)
)

// turns are as many as there is room in the channel.
type turns chan struct{}

// enter waits for a turn, which lasts until the end of the test.
func (s turns) enter(t *testing.T) {
	s <- struct{}{}
	t.Cleanup(func() { <-s })
}
