package discovery_test

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/recipes/discovery"
)

// A pause that may grow for ever does not overflow.
func TestLongestPauseHasNoLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const forEver = time.Duration(math.MaxInt64)
		p := newPicker(t, discovery.RoundRobin(), some(4), discovery.WithEjection(1, forEver, forEver))
		failTimes(t, p, "0", 1)
		p.Update(entries(some(1))) // it is back, because all others have left
		p.Update(entries(some(4)))
		failTimes(t, p, "0", 1)
		requireIn(t, p, "1", "2", "3")
	})
}
