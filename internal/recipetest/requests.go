package recipetest

import (
	"hash/fnv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/thorough"
)

// stride is the step between the requests that EachRequest tries, except in a full run.
const stride = 24

// EachRequest runs a scenario once for each request that it makes. The scenario causes
// a fault at the request with the given number, counted from 0, and reports whether it
// made that many requests. It must make at least least requests.
//
// A full run tries all requests, and a default run every twenty-fourth. The test's name
// decides on which, so that different faults meet different requests.
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
