package claim_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/internal/claim"
	"github.com/gocurator/curator/testing/zktest"
)

// A holder that may not read its own node for a while keeps its lock. It asks
// more and more seldom, and hears of a revocation when it may.
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
