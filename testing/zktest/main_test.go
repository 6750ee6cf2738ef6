package zktest

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain ends the shared real server after the last test, and then looks for leaked goroutines.
func TestMain(m *testing.M) {
	code := m.Run()
	realServer.close()
	leak := goleak.Find()
	for end := time.Now().Add(10 * time.Second); leak != nil && time.Now().Before(end); {
		leak = goleak.Find() // which is over after half a second, when goroutines of a busy machine are not
	}
	if leak != nil && code == 0 {
		fmt.Fprintln(os.Stderr, leak)
		code = 1
	}
	os.Exit(code)
}
