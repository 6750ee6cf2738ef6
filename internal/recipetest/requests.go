package recipetest

import (
	"hash/fnv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/thorough"
)

// stride is how many requests EachRequest goes on by, unless the run is a full one.
const stride = 24

// EachRequest runs a scenario once for each request that it makes. The scenario
// lets something happen to the request of the given number, which begins with
// 0, and reports whether it made that many. It must make at least the given
// number of requests.
//
// In a full run it tries all of them, and by default the first and then every
// twenty-fourth. The test's name decides which ones, so that different faults meet
// different requests.
func EachRequest(t *testing.T, least int, scenario func(t *testing.T, request int) (hit bool)) {
	t.Helper()
	step := thorough.Size(1, stride)
	require.True(t, scenario(t, 0), "the scenario makes requests")
	request := 1 + below(step, t.Name())
	for scenario(t, request) {
		request += step
	}
	require.GreaterOrEqual(t, request, least, "the scenario makes so many requests")
}

// below returns a number below n, which depends on a name.
func below(n int, name string) int {
	h := fnv.New32a()
	h.Write([]byte(name))
	return int(h.Sum32() % uint32(n))
}
