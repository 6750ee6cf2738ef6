package claim_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
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
