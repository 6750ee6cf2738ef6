package recipetest

import (
	"hash/fnv"
	"testing"

	"github.com/stretchr/testify/require"
)

// shortStride is how many requests EachRequest goes on by with -short.
const shortStride = 8

// EachRequest runs a scenario once for each request that it makes. The scenario
// lets something happen to the request of the given number, which begins with
// 0, and reports whether it made that many. It must make at least the given
// number of requests.
//
// With -short, EachRequest tries the first request and then every eighth. The
// test's name decides which ones, so that different faults meet different
// requests.
func EachRequest(t *testing.T, least int, scenario func(t *testing.T, request int) (hit bool)) {
	t.Helper()
	stride := 1
	if testing.Short() {
		stride = shortStride
	}
	require.True(t, scenario(t, 0), "the scenario makes requests")
	request := 1 + below(stride, t.Name())
	for scenario(t, request) {
		request += stride
	}
	require.GreaterOrEqual(t, request, least, "the scenario makes so many requests")
}

// below returns a number below n, which depends on a name.
func below(n int, name string) int {
	h := fnv.New32a()
	h.Write([]byte(name))
	return int(h.Sum32() % uint32(n))
}
