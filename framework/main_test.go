package framework_test

import (
	"testing"

	"github.com/gocurator/curator/internal/leaktest"
	"github.com/gocurator/curator/testing/zkserver"
)

func TestMain(m *testing.M) {
	waitTogether()
	leaktest.Main(m, zkserver.CloseShared)
}
