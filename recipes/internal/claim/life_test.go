package claim_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/internal/claim"
	"github.com/gocurator/curator/testing/zktest"
)

// place is a claim's place in the process. It hands the claim on if the test
// wants that.
type place struct {
	meanwhile func() // called before the successor is made; may be nil
	handOver  bool

	freed     int
	successor *claim.Claim
}

func (p *place) Asked() {}
func (p *place) Free()  { p.freed = 1 } // later calls do nothing

func (p *place) PassOn(_ context.Context, from *claim.Claim) bool {
	if !p.handOver {
		return false
	}
	if p.meanwhile != nil {
		p.meanwhile()
	}
	p.successor = from.Successor()
	return p.successor != nil
}

// withClaim runs a test with a claim to the node /n of a session, and the place
// that it has. The claim has one lease.
func withClaim(t *testing.T, test func(t *testing.T, w claimed)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()))
		require.NoError(t, err)
		defer c.Close()
		node, err := c.Create(t.Context(), "/n", nil, framework.WithMode(framework.Ephemeral))
		require.NoError(t, err)
		cl := claim.New(claim.Terms{Client: c, Key: "key"}, node)
		require.NotNil(t, cl)
		w := claimed{srv, c, cl, cl.First(t.Context()), &place{}}
		cl.Occupy(w.place)
		test(t, w)
	})
}

type claimed struct {
	srv   *zktest.Server
	c     *framework.Client
	claim *claim.Claim
	lease *claim.Lease
	place *place
}

// expire ends the session, and waits until the client knows.
func (w claimed) expire() {
	w.srv.Session(w.c.SessionID()).Expire()
	<-w.claim.Nodes()[0].Session.Context().Done()
	synctest.Wait()
}

func (w claimed) nodeExists() bool {
	synctest.Wait()
	return slices.Contains(w.srv.Children("/"), "n")
}

func TestReleaseDeletesTheNode(t *testing.T) {
	withClaim(t, func(t *testing.T, w claimed) {
		require.Equal(t, claim.Held, w.claim.State())
		require.NoError(t, w.lease.Release(t.Context()))
		require.Equal(t, claim.Released, w.claim.State())
		require.ErrorIs(t, context.Cause(w.claim.Context()), claim.ErrReleased)
		require.Equal(t, 1, w.place.freed)
		require.False(t, w.nodeExists())
	})
}

// Promise: A lost lock frees its place in the local queue.
func TestLossFreesThePlaceAndTheReleaseReportsIt(t *testing.T) {
	withClaim(t, func(t *testing.T, w claimed) {
		w.expire()
		require.Equal(t, claim.Lost, w.claim.State())
		require.Equal(t, 1, w.place.freed)
		require.ErrorIs(t, w.lease.Release(t.Context()), framework.ErrSessionLost)
		require.Equal(t, claim.Released, w.claim.State())
		require.Equal(t, 1, w.place.freed, "and not again")
	})
}

func TestHandOverKeepsTheNode(t *testing.T) {
	withClaim(t, func(t *testing.T, w claimed) {
		w.place.handOver = true
		require.NoError(t, w.lease.Release(t.Context()))
		require.Equal(t, claim.HandedOver, w.claim.State())
		require.ErrorIs(t, context.Cause(w.claim.Context()), claim.ErrReleased)
		require.Zero(t, w.place.freed, "the successor has it")
		require.True(t, w.nodeExists())

		next := w.place.successor
		require.Equal(t, claim.Held, next.State())
		require.NoError(t, next.Context().Err())
		lease := next.First(t.Context())
		require.NoError(t, lease.Release(t.Context()))
		require.Equal(t, claim.Released, next.State())
		require.False(t, w.nodeExists())
	})
}

// The session ends while the claim is handed over. If there is no successor
// yet, the claim is released as if no goroutine waited. If there is one, the
// successor is lost.
//
// Promise: A lock of an ended session is not handed over within the process.
func TestSessionEndsDuringAHandOver(t *testing.T) {
	withClaim(t, func(t *testing.T, w claimed) {
		w.place.handOver, w.place.meanwhile = true, w.expire
		require.NoError(t, w.lease.Release(t.Context()))
		require.Nil(t, w.place.successor)
		require.Equal(t, claim.Released, w.claim.State())
		require.Equal(t, 1, w.place.freed)
	})
	withClaim(t, func(t *testing.T, w claimed) {
		w.place.handOver = true
		require.NoError(t, w.lease.Release(t.Context()))
		next := w.place.successor
		w.expire()
		require.Equal(t, claim.HandedOver, w.claim.State(), "nothing changes for the one before")
		require.Equal(t, claim.Lost, next.State())
		require.ErrorIs(t, context.Cause(next.Context()), framework.ErrSessionLost)
	})
}

// Somebody asks for the lock while it is handed over. So there is no successor.
//
// Promise: A lock whose release was requested is not handed over within the process.
func TestRequestPreventsAHandOver(t *testing.T) {
	withClaim(t, func(t *testing.T, w claimed) {
		asked := w.claim.Requested()
		require.NoError(t, w.srv.Set("/n", claim.RevocationMarker))
		<-asked
		w.place.handOver = true
		require.NoError(t, w.lease.Release(t.Context()))
		require.Nil(t, w.place.successor)
		require.Equal(t, claim.Released, w.claim.State())
		require.False(t, w.nodeExists())
	})
}

func TestDeletedNodeLosesTheClaimAndItsSuccessor(t *testing.T) {
	withClaim(t, func(t *testing.T, w claimed) {
		w.place.handOver = true
		require.NoError(t, w.lease.Release(t.Context()))
		next := w.place.successor
		next.Occupy(&place{})
		time.Sleep(2 * time.Second) // until the nodes are watched
		require.NoError(t, w.srv.Delete("/n"))
		synctest.Wait()
		require.Equal(t, claim.Lost, next.State())
		require.ErrorIs(t, context.Cause(next.Context()), claim.ErrNodeDeleted)
	})
}

// The release of the last of several shares gives the claim up, even if the
// claim was lost in between.
func TestLastShareGivesTheClaimUp(t *testing.T) {
	for _, lost := range []bool{false, true} {
		withClaim(t, func(t *testing.T, w claimed) {
			again, err := claim.Reenter(w.lease.Context(), "key")
			require.NoError(t, err)
			require.NotNil(t, again)
			if lost {
				w.claim.Lose(claim.ErrRevoked)
			}
			w.lease.Release(t.Context())
			require.True(t, w.nodeExists())
			again.Release(t.Context())
			require.Equal(t, claim.Released, w.claim.State())
			require.False(t, w.nodeExists())
			require.Equal(t, 1, w.place.freed)
		})
	}
}

func TestKeptNodesStay(t *testing.T) {
	withClaim(t, func(t *testing.T, w claimed) {
		w.claim.Watch() // a leader does that from the beginning
		w.claim.Lose(framework.ErrSuspended)
		require.True(t, w.claim.Keep())
		require.Equal(t, claim.Kept, w.claim.State())
		<-w.claim.Over()
		require.ErrorIs(t, w.lease.Release(t.Context()), framework.ErrSuspended)
		require.Equal(t, claim.Kept, w.claim.State())
		require.True(t, w.nodeExists())
		require.Empty(t, w.srv.Watches())
	})
	withClaim(t, func(t *testing.T, w claimed) {
		w.claim.Request()
		w.claim.Lose(framework.ErrSuspended)
		require.False(t, w.claim.Keep(), "somebody has asked for it")
		require.NoError(t, w.claim.Dissolve(t.Context()))
		require.ErrorIs(t, context.Cause(w.claim.Context()), framework.ErrSuspended)
		require.Equal(t, claim.Released, w.claim.State())
		require.False(t, w.nodeExists())
	})
}

// A leader decides what becomes of the nodes of a claim that was lost. The
// release of the lease, which may come first, only says that the holder has
// stopped.
func TestLeaderOfALostClaimDecidesOnItsNodes(t *testing.T) {
	for _, kept := range []bool{true, false} {
		withClaim(t, func(t *testing.T, w claimed) {
			w.claim.Watch()
			stopped := w.claim.Lead()
			w.claim.Lose(framework.ErrSuspended)
			require.False(t, recipetest.IsClosed(stopped))
			require.ErrorIs(t, w.lease.Release(t.Context()), framework.ErrSuspended)
			require.True(t, recipetest.IsClosed(stopped))
			require.Equal(t, claim.Lost, w.claim.State())
			if kept {
				require.True(t, w.claim.Keep())
			} else {
				require.NoError(t, w.claim.Dissolve(t.Context()))
			}
			require.Equal(t, kept, w.nodeExists())
		})
	}
}

func TestStoppedClaimIsReleasedAndNotLost(t *testing.T) {
	withClaim(t, func(t *testing.T, w claimed) {
		w.claim.Stop()
		require.Equal(t, claim.Releasing, w.claim.State())
		w.expire()
		require.Equal(t, claim.Releasing, w.claim.State())
		require.ErrorIs(t, context.Cause(w.claim.Context()), claim.ErrReleased)
		require.NoError(t, w.claim.Dissolve(t.Context()))
		require.Equal(t, claim.Released, w.claim.State())
	})
}

// lateContext has a deadline, at which it does not end.
type lateContext struct{ context.Context }

func (lateContext) Deadline() (time.Time, bool) { return time.Now().Add(time.Second), true }

// The cause of a context that ends later than its deadline is waited for once,
// however often it is asked for.
func TestCauseOfALateContextIsWaitedForOnce(t *testing.T) {
	withClaim(t, func(t *testing.T, w claimed) {
		work, done := w.lease.WithContext(lateContext{t.Context()})
		defer done()
		<-work.Done()
		start := time.Now()
		for range 3 {
			require.ErrorIs(t, context.Cause(work), context.DeadlineExceeded)
			require.Equal(t, context.DeadlineExceeded.Error(), context.Cause(work).Error())
		}
		require.LessOrEqual(t, time.Since(start), 100*time.Millisecond)
	})
}
