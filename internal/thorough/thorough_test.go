package thorough_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/thorough"
)

// One number after the other, all cases are tried.
func TestEachCaseIsPickedByOneNumber(t *testing.T) {
	t.Setenv("CURATOR_ALL_TESTS", "")
	const n, cases = 6, 600
	picked := map[int]int{}
	for number := range n {
		t.Setenv("CURATOR_PICK", strconv.Itoa(number))
		before := len(picked)
		for c := range cases {
			if thorough.Picked(n, "case", c) {
				picked[c]++
				require.True(t, thorough.Picked(n, "case", c), "the same again")
			}
		}
		require.InDelta(t, cases/n, len(picked)-before, cases/n/2)
	}
	require.Len(t, picked, cases)
	for _, times := range picked {
		require.Equal(t, 1, times)
	}
}

func TestWithoutANumberItIsZero(t *testing.T) {
	t.Setenv("CURATOR_ALL_TESTS", "")
	for c := range 100 {
		t.Setenv("CURATOR_PICK", "")
		usual := thorough.Picked(6, c)
		t.Setenv("CURATOR_PICK", "6")
		require.Equal(t, usual, thorough.Picked(6, c))
	}
	t.Setenv("CURATOR_PICK", "8fabf15d")
	require.PanicsWithValue(t, `CURATOR_PICK: strconv.ParseUint: parsing "8fabf15d": invalid syntax`, func() { thorough.Picked(6, "case") })
}
