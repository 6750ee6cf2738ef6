package zktest

import (
	"flag"
	"math/rand/v2"
	"testing"
)

var seedFlag = flag.Uint64("zktest.seed", 1, "seed of the tests that choose at random; 0 picks one")

// SeedOf returns the seed for a test that chooses at random. If the test fails,
// its log says how to run it again.
func SeedOf(t *testing.T) uint64 {
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(rand.Uint32())
	}
	t.Logf("to run this again: go test ./testing/zktest -run '^%s$' -zktest.seed %d", t.Name(), seed)
	return seed
}
