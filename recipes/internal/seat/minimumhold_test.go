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

// The connection breaks while a lock with a minimum hold is released. The watch of the
// node ends with the connection before the seat has noticed the interruption.
func TestMinimumHoldIsWatchedAfterAnInterruptionOfTheRelease(t *testing.T) {
	inBubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		lease, err := mutex(c, keeps).Acquire(t.Context(), true)
		require.NoError(t, err)
		s, parting := lease.Hold().Seat(), lease.part()
		trusted := s.trusted
		require.True(t, s.forget(), "trustEnded comes late")
		srv.RefuseConnections(true)
		srv.CutAll()
		<-trusted.Done()
		s.Watch()
		synctest.Wait()
		require.NoError(t, lease.finish(t.Context(), parting))
		s.trustEnded(trusted)
		require.Equal(t, Parked, s.State())
		srv.RefuseConnections(false)
		require.NoError(t, c.WaitConnected(t.Context()))
		_, err = c.Set(t.Context(), lease.Path(), RevocationMarker, framework.AnyVersion)
		require.NoError(t, err)
		synctest.Wait()
		require.Equal(t, Gone, s.State(), "another client has asked for the lock")
	}, framework.WithErrorPolicy(state.StandardPolicy))
}
