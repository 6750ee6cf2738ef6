// Package thorough says how much the tests of this module do. Only tests import
// it.
//
// By default a run of all tests takes about two minutes, and leaves much out.
// With CURATOR_ALL_TESTS set, no test is left out, and each tries everything.
// With the flag -short as well, as in .ci/run, each tries a part of that.
package thorough

import (
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"
)

const env = "CURATOR_ALL_TESTS"

// All reports whether all tests are asked for. The flag -short makes no
// difference.
func All() bool { return os.Getenv(env) != "" }

// Times says how many times as many seeds as usual a full run tries: the value
// of CURATOR_ALL_TESTS if that is a number, and otherwise 1.
func Times() int {
	n, err := strconv.Atoi(os.Getenv(env))
	if err != nil {
		return 1
	}
	return max(n, 1)
}

// Full reports whether a test tries all seeds, every request and its largest
// crowd. It does with CURATOR_ALL_TESTS, but not with -short. Otherwise it
// takes a part of them.
func Full() bool { return All() && !testing.Short() }

// Size returns how much a test does of something, how often or for how long: all
// of it in a full run, and less otherwise.
func Size[T any](all, less T) T {
	if Full() {
		return all
	}
	return less
}

// Raced returns how much a test does of something that has the same accesses to
// memory each time: less under the race detector, which learns nothing from the
// repetition and makes it many times slower. With CURATOR_ALL_TESTS, it is as
// usual under the detector, too.
func Raced[T any](usual, less T) T {
	if raceDetector && !All() {
		return less
	}
	return usual
}

// HasRaceDetector reports whether the program has the race detector. With it,
// functions need more of the stack, and nearly everything takes longer.
func HasRaceDetector() bool { return raceDetector }

// Some returns the cases that a test tries: all in a full run, and otherwise
// the first few.
func Some[T any](few int, all ...T) []T { return all[:Size(len(all), few)] }

// Picked reports whether a test of very many cases tries the one with this
// name. In a full run it tries all of them, and otherwise about one in n. The
// name and the number CURATOR_PICK decide which ones: with 0, which is the
// default, up to n-1, each case is tried once. In .ci/run, the number is of the
// commit, so that each change tries others.
func Picked(n uint32, name ...any) bool {
	if Full() {
		return true
	}
	h := fnv.New32a()
	fmt.Fprintln(h, name...)
	return h.Sum32()%n == pick()%n
}

const envPick = "CURATOR_PICK"

// pick returns the number, and says once what it is: go test shows that if the
// program fails.
func pick() uint32 {
	value := os.Getenv(envPick)
	if value == "" {
		return 0
	}
	number, err := strconv.ParseUint(value, 10, 32)
	if err != nil {
		panic(fmt.Sprintf("%s: %v", envPick, err))
	}
	tellPick.Do(func() { fmt.Fprintf(os.Stderr, "This program tries the cases of %s=%s.\n", envPick, value) })
	return uint32(number)
}

var tellPick sync.Once

// OnRealServers skips a test, unless CURATOR_ALL_TESTS is set. It is for tests
// that repeat on real servers what others show in virtual time, and for those
// that need many servers or wait for long. The flag -short makes no difference.
func OnRealServers(t testing.TB) {
	t.Helper()
	if !All() {
		t.Skip("runs on real servers with " + env + "=1")
	}
}

// LongWait skips a test that waits for seconds, unless CURATOR_ALL_TESTS is
// set. The flag -short makes no difference.
func LongWait(t testing.TB) {
	t.Helper()
	if !All() {
		t.Skip("waits for seconds with " + env + "=1")
	}
}

// MuchWork skips a test that needs much of a processor, because it is about
// very large numbers, unless CURATOR_ALL_TESTS is set. The flag -short makes no
// difference.
func MuchWork(t testing.TB) {
	t.Helper()
	if !All() {
		t.Skip("works for long with " + env + "=1")
	}
}

// Patience returns how long a test waits for what must happen: d, which is for
// machines that are very busy, or a quarter of it where the program breaks a
// rule on purpose, so that it may never happen. See .ci/mutants/run.
func Patience(d time.Duration) time.Duration {
	if os.Getenv("CURATOR_MUTANT") != "" {
		return d / 4
	}
	return d
}

// Parallel lets n parallel tests of a program run at the same time, unless the
// command line says how many. It is for TestMain of packages whose tests mostly
// wait, so that there can be more of them than processors.
func Parallel(n int) {
	const name = "test.parallel"
	flag.Parse()
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == name })
	if asked {
		return
	}
	if err := flag.Set(name, strconv.Itoa(n)); err != nil {
		panic(err)
	}
}
