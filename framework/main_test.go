package framework_test

import (
	"testing"

	"github.com/gocurator/curator/internal/leaktest"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/testing/zkserver"
)

func TestMain(m *testing.M) {
	thorough.Parallel(32) // tests on real servers mostly wait
	leaktest.Main(m, zkserver.CloseShared)
}
