package barriers

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The newest node of an entry counts, and no other one, whether it waits or is
// in a round. Nodes of strangers do not count.
func TestWhichNodesWait(t *testing.T) {
	var none rounds
	names := []string{"m-2-b.1", "m-1-a.9", "m-1-a.10", "ready", "m-", "m-3-c", "m-3-c.x", "x.1", "m-0-z.1"}
	require.Equal(t, []string{"m-0-z.1", "m-1-a.10", "m-2-b.1"}, none.waiting(names))
	under := rounds{{Members: []string{"m-1-a.9", "m-0-z.1"}}, {Members: []string{"m-2-b.1"}}}
	require.Equal(t, []string{"m-1-a.10"}, under.waiting(names))
	require.Empty(t, rounds{{Members: []string{"m-1-a.10"}}}.waiting([]string{"m-1-a.9", "m-1-a.10"}))
}

// A round is kept as long as one of its members is there.
func TestRoundsThatAreOverAreDropped(t *testing.T) {
	one, two := round{Members: []string{"a", "b"}}, round{Members: []string{"c"}}
	all := rounds{one, two}
	require.Equal(t, all, all.alive([]string{"b", "c", "d"}))
	require.Equal(t, rounds{two}, all.alive([]string{"c"}))
	require.Empty(t, all.alive(nil))
	require.Equal(t, rounds{one, two}, all, "it is another list")
}

// Rounds that are written are read again.
func TestRoundsAreEncoded(t *testing.T) {
	all := rounds{{Members: []string{"a", "b"}, Left: []string{"b"}}, {Members: []string{"c"}}}
	read, err := readRounds(all.encode())
	require.NoError(t, err)
	require.Equal(t, all, read)
	left := all.withLeft("a")
	require.Equal(t, []string{"b", "a"}, left[0].Left)
	require.Equal(t, all[1], left[1])
	require.Equal(t, []string{"b"}, all[0].Left, "it is another list")
	require.Equal(t, left, left.withLeft("b", "a", "a", "stranger"), "each is noted once")
	fresh := rounds{{Members: []string{"a", "b"}}}
	require.NotEqual(t, fresh.withLeft("a", "b").encode(), fresh.withLeft("b", "a").encode(), "each writer names itself first")
}

// All rounds of those who wait open at once, up to a number of members. At
// least one does, however large it is.
func TestNextRounds(t *testing.T) {
	require.Equal(t, rounds{{Members: []string{"a", "b"}}, {Members: []string{"c", "d"}}}, nextRounds([]string{"a", "b", "c", "d", "e"}, 2))
	require.Empty(t, nextRounds([]string{"a"}, 2))
	crowd := make([]string, 3*mostAtOnce)
	require.Len(t, nextRounds(crowd, 2), mostAtOnce/2)
	require.Len(t, nextRounds(crowd, mostAtOnce-1), 1)
	require.Len(t, nextRounds(crowd, mostAtOnce+1), 1)
}
