package barriers

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Two members that know the same and note themselves over the same version write
// different data. So each can tell, after a lost reply, whether its own
// transaction was carried out, which deletes its node.
func TestTwoThatResignWriteDifferentNotes(t *testing.T) {
	round := rounds{{Members: []string{"a", "b", "c"}}}
	note := func(name string) string {
		s := &stayer{Passage: &Passage{name: name}, left: stringSet{"a": true, "b": true}}
		return string(round.withLeft(s.noted([]string{"a", "b"})...).encode())
	}
	require.NotEqual(t, note("a"), note("b"))
}
