package recipetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/thorough"
)

// Every request is tried in a full run, and some of them otherwise. The last one
// tried is the first that the scenario does not make.
func TestEachRequest(t *testing.T) {
	for made := 1; made < 20; made++ {
		var tried []int
		EachRequest(t, made, func(_ *testing.T, i int) bool {
			tried = append(tried, i)
			return i < made
		})
		require.Zero(t, tried[0])
		require.GreaterOrEqual(t, tried[len(tried)-1], made)
		if thorough.Full() {
			require.Len(t, tried, made+1)
		} else {
			require.LessOrEqual(t, len(tried), 3+made/stride)
		}
	}
}
