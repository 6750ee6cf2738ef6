package framework

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A caller that asks while a search is under way gets the next one, which
// begins later than the question.
func TestSearchThatHasBegunIsNotJoined(t *testing.T) {
	var s searches
	first, start := s.want("/p")
	require.True(t, start)
	same, start := s.want("/p")
	require.False(t, start)
	require.Same(t, first, same, "it has not begun")

	require.Same(t, first, s.begin("/p"))
	second, start := s.want("/p")
	require.False(t, start, "whoever makes the first makes this one, too")
	require.NotSame(t, first, second)
	other, start := s.want("/other")
	require.True(t, start)
	require.NotSame(t, second, other)
	joined, _ := s.want("/p")
	require.Same(t, second, joined)

	require.Same(t, second, s.begin("/p"))
	require.Nil(t, s.begin("/p"), "nobody wants another")
	require.Same(t, other, s.begin("/other"))
	require.Nil(t, s.begin("/other"))
	require.Empty(t, s.byParent)

	_, start = s.want("/p")
	require.True(t, start)
}
