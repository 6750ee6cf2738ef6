package recipetest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Every request is tried, and with -short some of them. The last one tried is
// the first that the scenario does not make.
func TestEachRequest(t *testing.T) {
	for made := 1; made < 20; made++ {
		var tried []int
		EachRequest(t, made, func(_ *testing.T, i int) bool {
			tried = append(tried, i)
			return i < made
		})
		require.Zero(t, tried[0])
		require.GreaterOrEqual(t, tried[len(tried)-1], made)
		if !testing.Short() {
			require.Len(t, tried, made+1)
		} else {
			require.LessOrEqual(t, len(tried), 3+made/shortStride)
		}
	}
}
