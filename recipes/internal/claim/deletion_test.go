package claim_test

import (
	"testing"
	"testing/synctest"

	"github.com/cenkalti/backoff/v4"
	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/claim"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/retry"
	"github.com/gocurator/curator/testing/zktest"
)

// A deletion in which the user's code panics does not tell that all is well.
func TestDeletionThatDoesNotReturnTellsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, panics := zktest.Start(t), false
		c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()), framework.WithRetry(func() backoff.BackOff {
			if panics {
				panics = false
				panic("no policy")
			}
			return retry.None()()
		}))
		require.NoError(t, err)
		defer c.Close()
		node, err := c.Create(t.Context(), "/n", nil, framework.WithMode(framework.Ephemeral))
		require.NoError(t, err)
		held := claim.New(claim.Terms{Client: c, Key: "key"}, node)
		told := follow.Recovery{Client: c}
		held.TellDeletion(&told)
		told.Note(zk.ErrNoAuth)
		lease := held.First(t.Context())
		srv.Inject(zktest.Rule{Op: zktest.OpDelete, Do: zktest.DropReply()})
		panics = true
		require.PanicsWithValue(t, "no policy", func() { lease.Release(t.Context()) })
		require.Error(t, told.Trouble())
	})
}
