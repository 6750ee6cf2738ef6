// Package leaktest looks for goroutines that a package's tests have left behind.
package leaktest

import (
	"fmt"
	"os"
	"time"

	"go.uber.org/goleak"
)

// patience is how long goroutines that are about to end may take to. On a busy machine that is longer than the half second
// that goleak gives them.
const patience = 10 * time.Second

// Main is a TestMain, of which m is the [testing.M]: it runs the tests, then what they share is closed, and then no goroutine
// may be left.
func Main(m interface{ Run() int }, closeShared ...func()) {
	code := m.Run()
	for _, done := range closeShared {
		done()
	}
	if err := find(patience); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// find returns an error if there are goroutines left when time is up.
func find(patience time.Duration) error {
	end := time.Now().Add(patience)
	for {
		err := goleak.Find()
		if err == nil || time.Now().After(end) {
			return err
		}
	}
}
