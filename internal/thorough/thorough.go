// Package thorough says how much the tests of this repository do. Only tests
// import it.
//
// By default the size of every test is small and fixed: two runs try the same
// seeds, the same requests and the same crowds. The environment variable
// CURATOR_SEEDS makes searches larger: with 1, a test tries all of its seeds,
// every request and its largest crowd, and with n, tests of random faults try n
// times as many seeds. .ci/full sets it.
//
// The repository has two more variables: CURATOR_MUTANT says which rule of the
// library a program breaks (see internal/mutants), and CURATOR_ZOOKEEPER_MAVEN
// which version of ZooKeeper tests with the build tag real run on, if it is not
// the installed one.
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

// Times says how many times as many seeds as in a full run a test tries: the
// value of CURATOR_SEEDS. It is 0 by default, when a test tries a part of them.
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

// Size returns how much a test does of something, how often or for how long: all
// of it in a full run, and less by default.
func Size[T any](all, less T) T {
	if Full() {
		return all
	}
	return less
}

// Some returns the cases that a test tries: all in a full run, and by default the
// first few.
func Some[T any](few int, all ...T) []T { return all[:Size(len(all), few)] }

// Picked reports whether a test of very many cases tries the case with this
// name. A full run tries all of them. By default it is about one in n, and always
// the same ones: the name decides.
func Picked(n uint32, name ...any) bool {
	if Full() {
		return true
	}
	h := fnv.New32a()
	fmt.Fprintln(h, name...)
	return h.Sum32()%n == 0
}

// MuchWork skips a test that needs much of a processor, because it is about very
// large numbers, unless the run is a full one.
func MuchWork(t testing.TB) {
	t.Helper()
	if !Full() {
		t.Skip("works for long with " + Seeds + "=1")
	}
}

// Patience returns how long a test in real time waits for what must happen: d,
// which is for machines that are very busy, or a quarter of it where the program
// breaks a rule on purpose, so that it may never happen. See internal/mutants.
func Patience(d time.Duration) time.Duration {
	if os.Getenv("CURATOR_MUTANT") != "" {
		return d / 4
	}
	return d
}
