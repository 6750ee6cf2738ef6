package barriers

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The names in a round are what the barrier's node says, which others may have
// written.
func TestNamesOfLostMembersAreMadeSafeToShow(t *testing.T) {
	err := &MemberLostError{Path: "/b", Members: []string{"m-1", "x\nlevel=ERROR msg=forged"}}
	require.EqualError(t, err, `/b: a member of the barrier was lost: m-1, "x\nlevel=ERROR msg=forged"`)
}
