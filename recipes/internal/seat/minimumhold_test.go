package seat

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// minimum is the minimum hold of the locks of these tests.
const minimum = time.Minute

func keeps(cfg *Config) { cfg.MinimumHold = minimum }

// The connection breaks just as the lock is released. The session tells the seat of
// that when it rests already.
//
// Promise: An interruption does not end the minimum hold of a lock that was released.
func TestInterruptionAtTheReleaseDoesNotEndTheMinimumHold(t *testing.T) {
	inBubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		first := acquire(t, mutex(c, keeps))
		h := first.won().Hold()
		s := h.seat
		first.won().part()
		s.forget() // the test calls trustEnded, and later
		trusted := s.trusted
		srv.CutAll()
		<-trusted.Done()
		require.Equal(t, rests, s.lane.decideRelease(h))
		s.trustEnded(trusted)
		require.Equal(t, Parked, s.State())
		s.lane.rest(t.Context(), h)
		time.Sleep(minimum / 2)
		require.Len(t, srv.Children("/l"), 1)
		time.Sleep(minimum)
		require.Empty(t, srv.Children("/l"))
	}, framework.WithErrorPolicy(state.StandardPolicy))
}

// An operator deletes the node of a lock with a minimum hold. The client spares it no
// more, so that its end ends the session.
func TestCloseAfterTheLossOfAMinimumHoldEndsTheSession(t *testing.T) {
	inBubble(t, func(t *testing.T, srv *zktest.Server, _ *framework.Client) {
		c := connect(t, srv)
		first := acquire(t, mutex(c, keeps))
		lease := first.won()
		id := c.SessionID()
		require.NoError(t, srv.Delete(lease.Path()))
		time.Sleep(2 * time.Second)
		require.ErrorIs(t, lease.Release(t.Context()), ErrNodeDeleted)
		require.NoError(t, c.Close())
		synctest.Wait()
		for _, left := range srv.Sessions() {
			require.NotEqual(t, id, left.ID)
		}
	})
}
