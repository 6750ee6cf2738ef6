package explore

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestChoicesAreReadAsTheyAreWritten(t *testing.T) {
	c, err := choicesOf([]int{3, 1, 12, 7})
	require.NoError(t, err)
	require.Equal(t, choices{{3, 1}, {12, 7}}, c)
	require.Equal(t, "3, 1, 12, 7", c.String())
	for _, numbers := range [][]int{{1}, {-1, 1}, {1, 0}, {2, 1, 2, 1}, {2, 1, 1, 1}} {
		_, err := choicesOf(numbers)
		require.Error(t, err, "%v", numbers)
	}
}
