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

func TestRandomNamesLookTheSame(t *testing.T) {
	require.Equal(t, "/lock/_c_*-lock-0000000001",
		canonical("/lock/_c_2f3a4b5c-6d7e-8f90-a1b2-c3d4e5f60718-lock-0000000001"))
	require.Equal(t, "/lock/_c_*-lock-0000000001", canonical("/lock/_c_2f3a4b5c6d7e8f90a1b2c3d4e5f60718-lock-0000000001"))
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
