package zktest

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain ends the shared real server after the last test, and then looks for leaked goroutines.
func TestMain(m *testing.M) {
	code := m.Run()
	realServer.close()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
