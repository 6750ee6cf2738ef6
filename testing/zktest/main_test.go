package zktest

import (
	"testing"

	"github.com/gocurator/curator/internal/leaktest"
)

// TestMain ends the shared real server after the last test, and then looks for
// leaked goroutines.
func TestMain(m *testing.M) { leaktest.Main(m, realServer.close) }
