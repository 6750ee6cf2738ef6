// Package leaktest has the body of a TestMain that finds goroutines which the tests
// have left behind.
package leaktest

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"go.uber.org/goleak"
)

// gracePeriod is how long goroutines that are about to end may take. goleak
// alone gives them half a second, which is too short on a busy machine.
const gracePeriod = 10 * time.Second

// gcPercent lets the heap grow further than Go's default before it is
// collected. Each session of a client takes megabytes for a moment, in tests
// with hundreds of sessions a second and little else on the heap.
const gcPercent = 800

// Main is the body of a TestMain; m is its [testing.M]. Main runs the tests and then
// the functions closeShared, which close shared resources. If one of them fails, or
// goroutines are left after that, the exit code is not 0.
func Main(m interface{ Run() int }, closeShared ...func() error) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	code := m.Run()
	var errs []error
	for _, done := range closeShared {
		errs = append(errs, done())
	}
	errs = append(errs, find(gracePeriod))
	if err := errors.Join(errs...); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// find returns an error if goroutines are left after the timeout.
func find(timeout time.Duration) error {
	end := time.Now().Add(timeout)
	for {
		err := goleak.Find()
		if err == nil || time.Now().After(end) {
			return err
		}
	}
}
