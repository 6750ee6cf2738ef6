package explore

import (
	"math/rand"
	"testing"
)

// seed makes a run draw the same random numbers each time. Package backoff and package
// internal/random draw pauses from math/rand, and recipes draw the names of nodes from
// crypto/rand.
func seed(t *testing.T) {
	rand.Seed(1) //nolint:staticcheck // backoff has no other source
	seedNames(t)
}
