package seat

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
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
