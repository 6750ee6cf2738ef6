package nodes

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Servers put the time to live of a node into the field for its owner.
func TestNodeWithATimeToLiveHasNoOwner(t *testing.T) {
	for owner, ownerless := range map[int64]bool{
		0: true, int64(-1)<<56 | 60_000: true, -1: true,
		0x0100_0000_0000_0001: false, -2 << 56: false, 0x7fff_ffff_ffff_ffff: false,
	} {
		require.Equal(t, ownerless, isOwnerless(owner), "%x", uint64(owner))
	}
}
