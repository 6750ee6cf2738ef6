package framework

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// The time for the first connection may be up at the moment at which there is
// one: superviseDeadline has looked before, and comes here after that.
func TestTimeForTheFirstConnectionThatIsUpTooLateIsNoLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		c, err := New(srv.Addr(), WithDialer(srv.Dialer()))
		require.NoError(t, err)
		defer c.Close()
		s, err := c.Session(t.Context())
		require.NoError(t, err)
		s.neverConnected()
		require.Equal(t, state.Connected, c.State())
		require.NoError(t, s.Context().Err())

		srv.RefuseConnections(true) // the connection may have ended again by then
		srv.CutAll()
		synctest.Wait()
		s.neverConnected()
		require.Equal(t, state.Suspended, c.State())
		require.NoError(t, s.Context().Err())
	})
}
