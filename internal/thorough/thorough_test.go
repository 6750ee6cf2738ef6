package thorough_test

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
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

// A test may run its own program as a child, and read what that writes. The number
// is no part of it.
func TestNumberIsToldOnStandardErrorAlone(t *testing.T) {
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestEachCaseIsPickedByOneNumber$")
	var stdout, stderr strings.Builder
	child.Env = append(os.Environ(), "CURATOR_PICK=3")
	child.Stdout, child.Stderr = &stdout, &stderr
	require.NoError(t, child.Run())
	require.NotContains(t, stdout.String(), "CURATOR_PICK")
	require.Contains(t, stderr.String(), "This program tries the cases of CURATOR_PICK=")
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
