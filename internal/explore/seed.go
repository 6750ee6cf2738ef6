package explore

import (
	"math/rand"
	"testing"
)

// seed makes a run draw the same random numbers each time. Pauses are drawn from
// package math/rand, by package backoff and by our internal/random, and names of
// nodes from crypto/rand.
func seed(t *testing.T) {
	rand.Seed(1) //nolint:staticcheck // backoff has no other source
	seedNames(t)
}
