package kerberos_test

import (
	"os"
	"testing"

	"github.com/gocurator/curator/internal/leaktest"
	"github.com/gocurator/curator/internal/recipetest"
)

// classes is a folder of compiled Java, if a test has made that.
var classes string

func TestMain(m *testing.M) {
	leaktest.Main(m, recipetest.CloseShared, func() error { return os.RemoveAll(classes) })
}
