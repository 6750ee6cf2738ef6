package lockloop_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/lockloop"
	"github.com/gocurator/curator/testing/zktest"
)

// A contender whose create has made two nodes does not wait for itself. Nodes of
// other contenders of its client stay.
//
// Promise: A contender whose create was applied twice deletes the second node and does not wait for it.
func TestContenderDoesNotWaitForItsOtherNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()))
		require.NoError(t, err)
		defer c.Close()
		require.NoError(t, srv.Create("/l", nil))
		l := lockloop.ByOrder(lockloop.Nodes{Client: c, Path: "/l", Kind: "lock-", Kinds: []string{"lock-"}},
			lockloop.Order{Blocks: lockloop.Exclusive})

		srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.Call(func(r zktest.Request) {
			_ = srv.Create(r.Path+"0000000000", nil)
		})})
		node, _, refusal := l.Run(t.Context(), lockloop.Attempt{})
		require.Nil(t, refusal)
		synctest.Wait()
		require.Equal(t, []string{node.Path[len("/l/"):]}, srv.Children("/l"))
		require.Contains(t, node.Path, "lock-0000000001")

		_, _, refusal = l.Run(t.Context(), lockloop.Attempt{})
		require.NotNil(t, refusal, "one node for each")
		require.Equal(t, c.SessionID(), refusal.HolderSession)
		time.Sleep(time.Second)
		require.Equal(t, []string{node.Path[len("/l/"):]}, srv.Children("/l"))
	})
}
