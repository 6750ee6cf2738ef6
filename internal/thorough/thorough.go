// Package thorough sets how much the tests of this repository do. Only tests import it.
//
// By default, every test has a small and fixed size: two runs try the same seeds, the
// same requests and the same crowds. The environment variable CURATOR_SEEDS makes
// searches larger: with 1, a test tries all of its seeds, every request and its largest
// crowd, and with n, tests of random faults try n times as many seeds. .ci/full sets
// it.
//
// The repository has two more variables. CURATOR_MUTANT selects the rule of the library
// that a program breaks (see internal/mutants). CURATOR_ZOOKEEPER_MAVEN selects a
// version of ZooKeeper for tests with the build tag real, instead of the installed one.
package thorough

import (
	"fmt"
	"hash/fnv"
	"os"
	"strconv"
	"testing"
	"time"
)

// Seeds is the name of the variable.
const Seeds = "CURATOR_SEEDS"

// Times returns the value of CURATOR_SEEDS: a test tries that many times the seeds of a
// full run. By default, Times is 0, and a test tries a part of the seeds.
func Times() int {
	value := os.Getenv(Seeds)
	if value == "" {
		return 0
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 {
		panic(fmt.Sprintf("%s=%q is not a number from 0", Seeds, value))
	}
	return n
}

// Full reports whether a test tries all seeds, every request and its largest
// crowd.
func Full() bool { return Times() > 0 }

// Size returns a number or a duration for a test: all in a full run, and less by
// default.
func Size[T any](all, less T) T {
	if Full() {
		return all
	}
	return less
}

// Some returns the cases of a test: all cases in a full run, and the first few by
// default.
func Some[T any](few int, all ...T) []T { return all[:Size(len(all), few)] }

// Picked reports whether a test of very many cases tries the case with this name. A
// full run tries all cases. By default, about one case in n is tried, and the name
// decides, so the choice is always the same.
func Picked(n uint32, name ...any) bool {
	if Full() {
		return true
	}
	h := fnv.New32a()
	fmt.Fprintln(h, name...)
	return h.Sum32()%n == 0
}

// MuchWork skips a test that needs much CPU time for very large numbers, except in a
// full run.
func MuchWork(t testing.TB) {
	t.Helper()
	if !Full() {
		t.Skip("works for long with " + Seeds + "=1")
	}
}

// Patience returns how long a test in real time waits for an event that must happen.
// The duration d suits very busy machines. In a mutant, where the event may never
// happen, Patience returns a quarter of d; see internal/mutants.
func Patience(d time.Duration) time.Duration {
	if os.Getenv("CURATOR_MUTANT") != "" {
		return d / 4
	}
	return d
}
