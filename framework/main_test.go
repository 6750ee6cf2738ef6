package framework_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain looks for leaked goroutines after the last test.
func TestMain(m *testing.M) {
	code := m.Run()
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
