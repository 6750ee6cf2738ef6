package shared_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/leadertest"
	"github.com/gocurator/curator/recipes/shared"
	"github.com/gocurator/curator/testing/zktest"
)

// A leader that has not applied the write whose reply was lost does not make it
// be told as a conflict.
//
// Promise: A leader that lags does not mislead a shared value about a lost reply.
func TestWriteIsNotMisledByALeader(t *testing.T) {
	seed := func(t *testing.T, c *framework.Client) {
		_, err := c.Create(t.Context(), "/n", []byte{0, 0, 0, 1})
		require.NoError(t, err)
	}
	leadertest.AtEach(t, seed, func(t *testing.T, l *leadertest.LostReply) {
		n, err := shared.NewCount(l.Client, "/n", 0)
		require.NoError(t, err)
		defer n.Close()
		require.NoError(t, n.WaitSynced(t.Context()))
		l.Lose(zktest.OpMulti)
		_, _, err = n.TrySet(t.Context(), get(t, n), 2)
		require.ErrorIs(t, err, framework.ErrOutcomeUnknown, "which is no conflict")
	})
}
