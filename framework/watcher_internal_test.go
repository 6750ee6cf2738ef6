package framework

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// The session of an operation may end right before the watch is asked for.
//
// Promise: A Watcher of a lost session is not requested in the next session.
func TestPersistentWatchOfALostSessionIsNotAskedForInTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		c, err := New(srv.Addr(), WithDialer(srv.Dialer()), WithSessionTimeout(9*time.Second))
		require.NoError(t, err)
		defer c.Close()
		lost, err := c.Session(t.Context())
		require.NoError(t, err)
		srv.Session(lost.ID()).Expire()
		<-lost.Context().Done()
		for range 2 {
			_, err := c.persistent.Open(lost.watches, "/n", false)
			require.ErrorIs(t, err, ErrSessionLost)
			require.NoError(t, c.WaitConnected(t.Context()))
			synctest.Wait()
			require.NotSame(t, lost, c.session)
		}
		require.Zero(t, srv.CountRequests(zkinside.OpAddWatch))
	})
}
