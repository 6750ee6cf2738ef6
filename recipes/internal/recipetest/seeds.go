package recipetest

import (
	"os"
	"testing"
)

// envAllSeeds makes tests of random faults try all of their seeds.
const envAllSeeds = "CURATOR_ALL_SEEDS"

// Seeds returns how many seeds a test of random faults tries, out of all that
// it has to try before a change is accepted. It is all of them if
// CURATOR_ALL_SEEDS is set, as .ci/run does, else a tenth, and a twentieth with
// -short. The seeds that are tried are the first ones.
func Seeds(all int) int {
	switch {
	case os.Getenv(envAllSeeds) != "":
		return all
	case testing.Short():
		return max(all/20, 1)
	}
	return max(all/10, 1)
}
