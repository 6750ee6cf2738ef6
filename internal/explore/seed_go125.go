//go:build !go1.26

package explore

import "testing"

// seedNames does nothing: older versions of Go cannot seed crypto/rand.
func seedNames(*testing.T) {}
