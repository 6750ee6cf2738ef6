package thorough_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/thorough"
)

func TestDefaultIsSmallAndFixed(t *testing.T) {
	t.Setenv(thorough.Seeds, "")
	require.Zero(t, thorough.Times())
	require.False(t, thorough.Full())
	require.Equal(t, 2, thorough.Size(9, 2))
	require.Equal(t, []string{"a", "b"}, thorough.Some(2, "a", "b", "c"))
	const n, cases = 6, 600
	picked := 0
	for c := range cases {
		if thorough.Picked(n, "case", c) {
			picked++
			require.True(t, thorough.Picked(n, "case", c), "the same again")
		}
	}
	require.InDelta(t, cases/n, picked, cases/n/2)
}

func TestFullRun(t *testing.T) {
	t.Setenv(thorough.Seeds, "20")
	require.Equal(t, 20, thorough.Times())
	require.Equal(t, 9, thorough.Size(9, 2))
	require.Equal(t, []string{"a", "b", "c"}, thorough.Some(2, "a", "b", "c"))
	for c := range 100 {
		require.True(t, thorough.Picked(6, c))
	}
}

func TestValueThatIsNoNumber(t *testing.T) {
	for _, value := range []string{"all", "-1", "1.5"} {
		t.Setenv(thorough.Seeds, value)
		require.PanicsWithValue(t, `CURATOR_SEEDS="`+value+`" is not a number from 0`, func() { thorough.Times() })
	}
}
