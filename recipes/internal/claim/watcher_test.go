package claim_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/claim"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// A holder that may not read its own node for a while keeps its lock. It asks
// more and more seldom, and hears of a revocation when it may.
//
// Promise: A holder watches its node again after each change.
func TestHolderThatMayNotReadItsNode(t *testing.T) {
	withClaim(t, func(t *testing.T, w claimed) {
		asked := w.claim.Requested() // from now on the node is watched
		for _, code := range []zktest.Code{zktest.ErrNoAuth, -1} {
			refused := w.srv.Inject(zktest.Rule{Op: zktest.OpGetData, Path: "/n", Times: -1, Do: zktest.Fail(code)})
			require.NoError(t, w.srv.Set("/n", nil)) // a reason to look
			time.Sleep(5 * time.Minute)
			require.Equal(t, claim.Held, w.claim.State())
			require.Greater(t, refused.Hits(), 10)
			require.Less(t, refused.Hits(), 20)
			refused.Remove()
			time.Sleep(time.Minute)
		}
		require.NoError(t, w.srv.Set("/n", claim.RevocationMarker))
		<-asked
		require.NoError(t, w.lease.Release(t.Context()))
	})
}

// Servers refuse the credentials for a while, and take them again before the
// session is over. The holder keeps its lock, and hears of a revocation.
func TestHolderOutlastsRefusedCredentials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()),
			framework.WithAuth("digest", []byte("me:secret")), framework.WithErrorPolicy(state.SessionPolicy))
		require.NoError(t, err)
		defer c.Close()
		node, err := c.Create(t.Context(), "/n", nil, framework.WithMode(framework.Ephemeral))
		require.NoError(t, err)
		held := claim.New(claim.Terms{Client: c, Key: "key"}, node)
		lease := held.First(t.Context())

		refusal := srv.Inject(zktest.Rule{Op: zktest.OpAuth, Times: -1, Do: zktest.Fail(zktest.ErrAuthFailed)})
		srv.CutAll()
		synctest.Wait()
		asked := held.Requested() // from now on the holder wants to watch its node
		time.Sleep(3 * time.Second)
		require.Positive(t, refusal.Hits())
		refusal.Remove()
		time.Sleep(time.Minute)
		require.True(t, c.State().IsConnected())
		require.Equal(t, claim.Held, held.State())
		require.NoError(t, srv.Set("/n", claim.RevocationMarker))
		synctest.Wait()
		select {
		case <-asked:
		default:
			t.Fatal("the holder does not watch its node")
		}
		require.NoError(t, lease.Release(t.Context()))
	})
}
