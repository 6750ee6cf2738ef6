package nodes

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/testing/zktest"
)

// The client is closed in the very moment in which the server has deleted the
// node. The node is gone, and Shutdown does not say that it may still be there.
func TestNodeThatIsGoneIsNoLeftover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()))
		require.NoError(t, err)
		defer c.Close()
		k := newKeeper(newNode(c, "/n", nil, newConfig([]Option{WithMode(framework.Persistent)})), nil)
		k.settledOnce = true
		k.owners.Note(1)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		k.removal.Look = func(context.Context, *framework.Session) error {
			cancel()
			return follow.ErrDone
		}
		require.NoError(t, k.remove(ctx))
	})
}
