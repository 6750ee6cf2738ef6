package main

import (
	"os"
	"testing"
	"time"

	"github.com/gocurator/curator/internal/leaktest"
)

// Tests with the tag real add to these.
var (
	beProgram   func()         // the test binary may be the program itself
	closeShared []func() error // what is done after all tests
)

func TestMain(m *testing.M) {
	if beProgram != nil {
		beProgram()
	}
	for _, name := range []string{"ZKLOCK_SERVERS", "ZOOKEEPER_SERVERS", "ZKLOCK_FD", "ZKLOCK_SESSION"} {
		os.Unsetenv(name)
	}
	time.Local = time.UTC
	leaktest.Main(m, closeShared...)
}
