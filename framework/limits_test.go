package framework_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// A server stops reading, pings too, when a thousand requests are not answered.
// One client must not bring it there.
func TestServerHasLessUnderWayThanWouldStopItFromReading(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		srv.Inject(zktest.Rule{Op: zktest.OpGetData, Do: zktest.DelayReply(time.Second)})
		var all sync.WaitGroup
		for range 3000 {
			all.Go(func() {
				if _, _, err := c.Get(t.Context(), "/"); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		atOnce := srv.CountRequests(zktest.OpGetData)
		require.Less(t, atOnce, 1000-200)
		require.Greater(t, atOnce, 500, "enough to keep it busy")
		all.Wait()
	})
}

func TestMaxRequestSizeCanBeRaised(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c := newClient(t, srv, framework.WithMaxRequestSize(2<<10))
		mustCreate(t, c, "/n", "")
		_, err := c.Set(t.Context(), "/n", make([]byte, 1900), framework.AnyVersion)
		require.NoError(t, err)
		_, err = c.Set(t.Context(), "/n", make([]byte, 2<<10), framework.AnyVersion)
		require.Error(t, err)
	})
	_, err := framework.New("host", framework.WithMaxRequestSize(0))
	var invalid *framework.ConfigError
	require.ErrorAs(t, err, &invalid)
}
