package claim_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/internal/claim"
)

// A request to give the nodes up reaches all who hold them, also one that comes after
// it.
//
// Promise: A reader that joins a shared node receives an earlier revocation request.
func TestRequestReachesAllMembers(t *testing.T) {
	withClaim(t, func(t *testing.T, w claimed) {
		before := w.claim.Member()
		asked := before.Requested()
		require.False(t, recipetest.IsClosed(asked))
		w.claim.Request()
		require.True(t, recipetest.IsClosed(asked))
		after := w.claim.Member()
		require.True(t, after.IsRequested())
		require.True(t, recipetest.IsClosed(after.Requested()))
		require.NoError(t, before.Context().Err(), "nothing is forced")
	})
}

// The last member that is given up gives the nodes up, or passes them on. Nobody is
// a member any more then.
//
// Promise: No reader joins a shared node after its last member has left.
func TestLastMemberGivesTheNodesUp(t *testing.T) {
	for _, handOver := range []bool{false, true} {
		withClaim(t, func(t *testing.T, w claimed) {
			w.place.handOver = handOver
			one, two := w.claim.Member(), w.claim.Member()
			require.NoError(t, one.GiveUp(t.Context()))
			require.Equal(t, claim.HandedOver, one.State())
			require.Equal(t, claim.Held, w.claim.State())
			require.NoError(t, two.Context().Err())
			require.Zero(t, w.place.freed)
			require.True(t, w.nodeExists())
			require.NoError(t, two.GiveUp(t.Context()))
			require.Equal(t, claim.Released, w.claim.State())
			require.Nil(t, w.claim.Member())
			require.Equal(t, handOver, w.nodeExists())
			require.Equal(t, !handOver, w.place.freed == 1)
			if handOver {
				require.Equal(t, claim.HandedOver, two.State())
				require.NoError(t, w.place.successor.Context().Err())
			} else {
				require.Equal(t, claim.Released, two.State())
			}
		})
	}
}
