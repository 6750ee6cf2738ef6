package nodes_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/testing/zktest"
)

// Members lists what the client's server knows. After a Sync in the same session,
// that is all that was complete before.
func TestMembersAtAServerThatLags(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ens := zktest.StartEnsemble(t, 3)
		connect := func(address string) *framework.Client {
			c, err := framework.Connect(t.Context(), address, framework.WithDialer(ens.Dialer()))
			require.NoError(t, err)
			t.Cleanup(func() { c.Close() })
			return c
		}
		joins, lists := connect(ens.Leader().Addr()), connect(ens.Followers()[0].Addr())
		require.NoError(t, ens.Followers()[0].Lag(3*time.Second))
		member, err := nodes.NewGroup(joins, "/g").Join(t.Context(), "a", nil)
		require.NoError(t, err)
		group := nodes.NewGroup(lists, "/g")
		members, err := group.Members(t.Context())
		require.NoError(t, err)
		require.Empty(t, members)
		require.NoError(t, lists.InSession(t.Context(), func(ctx context.Context) error {
			if err := lists.Sync(ctx, "/g"); err != nil {
				return err
			}
			members, err = group.Members(ctx)
			return err
		}))
		require.Len(t, members, 1)
		require.NoError(t, member.Leave(t.Context()))
	})
}
