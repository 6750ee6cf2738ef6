package nodes_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/leadertest"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/testing/zktest"
)

// A leader that has not applied the create whose reply was lost does not make
// the node be created twice, as a sequential one would be.
//
// Promise: A leader that lags does not mislead a persistent node about a lost reply.
func TestNodeIsNotMisledByALeader(t *testing.T) {
	for name, mode := range map[string]framework.Mode{
		"ephemeral": framework.Ephemeral, "ephemeral sequential": framework.EphemeralSequential,
		"persistent": framework.Persistent,
	} {
		t.Run(name, func(t *testing.T) {
			parent := func(t *testing.T, c *framework.Client) {
				_, err := c.Create(t.Context(), "/p", nil)
				require.NoError(t, err)
			}
			leadertest.AtEach(t, parent, func(t *testing.T, l *leadertest.LostReply) {
				l.Lose(zktest.OpCreate)
				n, err := nodes.NewPersistentNode(l.Client, "/p/n-", nil, nodes.WithMode(mode))
				require.NoError(t, err)
				_, err = n.WaitRegistered(t.Context())
				require.NoError(t, err)
				require.Len(t, l.Nodes("/p"), 1)
				require.NoError(t, n.Shutdown(t.Context()))
			})
		})
	}
}
