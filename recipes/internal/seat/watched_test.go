package seat

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// A holder that may not read its own node for a while keeps its lock. The holder reads
// less and less often, and receives a revocation when it may read.
//
// Promise: A holder watches its node again after each change.
func TestHolderThatMayNotReadItsNode(t *testing.T) {
	withHold(t, func(t *testing.T, w held) {
		asked := w.hold.Seat().Requested() // from now on the node is watched
		for _, code := range []zktest.Code{zktest.ErrNoAuth, -1} {
			refused := w.srv.Inject(zktest.Rule{Op: zktest.OpGetData, Path: "/n", Times: -1, Do: zktest.Fail(code)})
			require.NoError(t, w.srv.Set("/n", nil)) // a reason to look
			time.Sleep(5 * time.Minute)
			require.Equal(t, Held, w.hold.Seat().State())
			require.Greater(t, refused.Hits(), 10)
			require.Less(t, refused.Hits(), 20)
			refused.Remove()
			time.Sleep(time.Minute)
		}
		require.NoError(t, w.srv.Set("/n", RevocationMarker))
		<-asked
		require.NoError(t, w.lease.Release(t.Context()))
	})
}

// Servers refuse the credentials for a while, and accept them again before the session
// is over. The holder keeps its lock, and receives a revocation.
func TestHolderSurvivesRefusedCredentials(t *testing.T) {
	withHold(t, func(t *testing.T, w held) {
		refusal := w.srv.Inject(zktest.Rule{Op: zkinside.OpAuth, Times: -1, Do: zktest.Fail(zkinside.ErrAuthFailed)})
		w.srv.CutAll()
		synctest.Wait()
		asked := w.hold.Seat().Requested() // from now on the holder wants to watch its node
		time.Sleep(3 * time.Second)
		require.Positive(t, refusal.Hits())
		refusal.Remove()
		time.Sleep(time.Minute)
		require.True(t, w.c.State().IsConnected())
		require.Equal(t, Held, w.hold.Seat().State())
		require.NoError(t, w.srv.Set("/n", RevocationMarker))
		synctest.Wait()
		require.True(t, isClosed(asked), "the holder does not watch its node")
		require.NoError(t, w.lease.Release(t.Context()))
	}, framework.WithAuth("digest", []byte("me:secret")), framework.WithErrorPolicy(state.SessionPolicy))
}

// An interruption ends a hold whose node stays. Another candidate of the same
// client has the same watch on the node, so that the watch goes on. The seat does
// not wait for it any more, nor does the watch keep the seat in memory: there may
// be an interruption each minute, and the node stays for days.
//
// Promise: A leader that keeps its node leaves nothing in the client's watches.
// Promise: A leader that keeps its node stops the watch that its candidacy had set.
func TestKeptSeatLeavesNothingAtItsWatches(t *testing.T) {
	for name, how := range map[string]struct{ own, watched bool }{
		"nobody has watched":                   {},
		"watched":                              {watched: true},
		"the contender's watch, taken over":    {own: true, watched: true},
		"the contender's watch, not yet heard": {own: true},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
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
			}, framework.WithErrorPolicy(state.StandardPolicy))
		})
	}
}

// keepInterrupted makes a hold of a node, has an interruption end it, and keeps
// the node.
func keepInterrupted(
	t *testing.T, srv *zktest.Server, c *framework.Client, node framework.Created, own, watched bool,
) weak.Pointer[Seat] {
	var watch *ownWatch
	if own {
		data, _, w, err := c.GetW(t.Context(), node.Path)
		require.NoError(t, err)
		watch = &ownWatch{data, w}
	}
	h := newHold(&Lock{cfg: Config{Client: c}, boxed: "key"}, nil, watch, node)
	require.NotNil(t, h)
	h.LeaseOf(t.Context())
	if watched {
		h.Seat().Watch()
	}
	synctest.Wait()
	srv.CutAll()
	<-h.Context().Done()
	require.True(t, h.Keep())
	return weak.Make(h.Seat())
}

// A holder deletes its node, as a semaphore deletes the node of its gate. A read of the
// node that was under way finds it gone. The deletion is no loss.
//
// Promise: A node that its own holder deletes is not reported as a loss.
func TestNodeThatItsHolderDeletesIsNoLoss(t *testing.T) {
	withHold(t, func(t *testing.T, w held) {
		look := w.srv.Inject(zktest.Rule{Op: zktest.OpGetData, Path: "/n", Do: zktest.DelayRequest(time.Second)})
		w.hold.Seat().Watch()
		synctest.Wait()
		require.Equal(t, 1, look.Hits())
		w.hold.Seat().unwatch()
		require.NoError(t, w.srv.Delete("/n"))
		time.Sleep(time.Minute)
		require.Equal(t, Held, w.hold.Seat().State())
		require.NoError(t, w.hold.Context().Err())
		require.NoError(t, w.lease.Release(t.Context()))
	})
}

// A request to give the lock up reaches all who hold it, also if they ask later.
func TestRequestReachesAllHolders(t *testing.T) {
	withHold(t, func(t *testing.T, w held) {
		s := w.hold.Seat()
		beside := s.sit()
		asked, byOthers := s.Requested(), s.RequestedByOthers()
		require.False(t, isClosed(asked))
		s.Request()
		require.True(t, isClosed(asked))
		require.False(t, isClosed(byOthers), "the holder's process asks by itself")
		require.True(t, s.isRequested())
		require.False(t, s.mayPass(), "nobody gets it next")
		require.NoError(t, w.hold.Context().Err(), "nothing is forced")
		require.NoError(t, beside.Context().Err())

		require.NoError(t, w.srv.Set("/n", RevocationMarker))
		synctest.Wait()
		require.True(t, isClosed(byOthers))
		require.True(t, isClosed(s.RequestedByOthers()))
	})
}
