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

// What is behind a deviation moves when it goes.
func TestChoicesWithoutOne(t *testing.T) {
	all := without(choices{{3, 1}, {5, 2}})
	require.Equal(t, choices{{3, 1}}, all[0], "the last one goes first")
	require.Contains(t, all, choices{{5, 2}})
	require.Contains(t, all, choices{{3, 2}})
	require.Contains(t, all, choices{{5 + maxShift, 2}})
	require.NotContains(t, all, choices{{2, 2}})
}
