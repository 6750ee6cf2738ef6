package claim_test

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/claim"
	"github.com/gocurator/curator/recipes/internal/lockloop"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// An interruption ends a claim whose node stays. Another candidate of the same
// client has the same watch on the node, so that the watch goes on. The claim does
// not wait for it any more, nor does the watch keep the claim in memory: there may
// be an interruption each minute, and the node stays for days.
//
// Promise: A leader that keeps its node leaves nothing in the client's watches.
// Promise: A leader that keeps its node stops the watch that its candidacy had set.
func TestKeptClaimLeavesNothingAtItsWatches(t *testing.T) {
	for name, how := range map[string]struct{ own, watched bool }{
		"nobody has watched":                   {},
		"watched":                              {watched: true},
		"the contender's watch, taken over":    {own: true, watched: true},
		"the contender's watch, not yet heard": {own: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := zktest.Start(t)
				c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()), framework.WithErrorPolicy(state.StandardPolicy))
				require.NoError(t, err)
				defer c.Close()
				node, err := c.Create(t.Context(), "/n", nil, framework.WithMode(framework.Ephemeral))
				require.NoError(t, err)
				_, _, others, err := c.GetW(t.Context(), "/n")
				require.NoError(t, err)
				defer others.Stop()

				kept := keepInterrupted(t, srv, c, node, how.own, how.watched)
				time.Sleep(time.Minute)
				require.True(t, c.State().IsConnected())
				watches := framework.Extend(c).Status().Watches
				require.Len(t, watches, 1)
				require.Equal(t, 1, watches[0].Waiters, "the other candidate")
				runtime.GC()
				require.Nil(t, kept.Value(), "it is still in memory")
			})
		})
	}
}

// keepInterrupted makes a claim to a node, has an interruption end it, and keeps
// the node.
func keepInterrupted(
	t *testing.T, srv *zktest.Server, c *framework.Client, node framework.Created, own, watched bool,
) weak.Pointer[claim.Claim] {
	terms := claim.Terms{Client: c, Key: "key"}
	if own {
		data, _, watch, err := c.GetW(t.Context(), node.Path)
		require.NoError(t, err)
		terms.Own = &lockloop.OwnWatch{Data: data, Watch: watch}
	}
	held := claim.New(terms, node)
	require.NotNil(t, held)
	held.First(t.Context())
	if watched {
		held.Watch()
	}
	synctest.Wait()
	srv.CutAll()
	<-held.Context().Done()
	require.True(t, held.Keep())
	return weak.Make(held)
}

// A holder deletes the node by itself, as a semaphore does with that of its gate.
// A look at the node that was under way finds it gone. That is no loss.
//
// Promise: A node that its own holder deletes is not reported as a loss.
func TestNodeThatItsHolderDeletesIsNoLoss(t *testing.T) {
	withClaim(t, func(t *testing.T, w claimed) {
		look := w.srv.Inject(zktest.Rule{Op: zktest.OpGetData, Path: "/n", Do: zktest.DelayRequest(time.Second)})
		w.claim.Watch()
		synctest.Wait()
		require.Equal(t, 1, look.Hits())
		w.claim.Unwatch()
		require.NoError(t, w.srv.Delete("/n"))
		time.Sleep(time.Minute)
		require.Equal(t, claim.Held, w.claim.State())
		require.NoError(t, w.claim.Context().Err())
		require.NoError(t, w.lease.Release(t.Context()))
	})
}
