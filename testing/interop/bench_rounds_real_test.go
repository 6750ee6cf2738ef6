//go:build real

package interop_test

import (
	"flag"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
)

// round runs what a benchmark compares, and returns how long it took.
type round func() (time.Duration, error)

// must runs a round, and fails the benchmark on an error.
func (r round) must(b testing.TB) time.Duration {
	b.Helper()
	took, err := r()
	require.NoError(b, err)
	return took
}

// median sorts the numbers. Of an even count it is the mean of the two in the middle.
func median(numbers []float64) float64 {
	slices.Sort(numbers)
	n := len(numbers)
	return (numbers[(n-1)/2] + numbers[n/2]) / 2
}

var warmUp = flag.Duration("warm", 10*time.Second,
	"how long the processes of a benchmark have to compile before it is measured")

// cost returns the requests and bytes of a round. The crowd of the round must
// be connected through the meter.
func (m *meter) cost(t testing.TB, round round) (requests, bytes int) {
	t.Helper()
	requests, bytes, err := m.tryCost(round)
	require.NoError(t, err)
	return requests, bytes
}

func (m *meter) tryCost(round round) (requests, bytes int, err error) {
	if _, err := round(); err != nil { // makes connections and paths
		return 0, 0, err
	}
	requests, bytes = m.counted()
	_, err = round()
	allRequests, allBytes := m.counted()
	return allRequests - requests, allBytes - bytes, err
}

func benchClient(b testing.TB, addr string) *framework.Client {
	c, err := framework.New(addr, framework.WithSessionTimeout(longSession))
	require.NoError(b, err)
	b.Cleanup(func() { c.Close() })
	return c
}

func repeat[T any](n int, make func() T) []T {
	var all []T
	for range n {
		all = append(all, make())
	}
	return all
}
