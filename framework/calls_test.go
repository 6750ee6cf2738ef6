package framework_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// Requests that are answered between two batches of setWatches must not make
// the server believe that the watches of the next batch have seen what happened
// while the client was away.
func TestNoEventIsLostBetweenBatchesOfWatches(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		watches := manyWatches(t, srv, c, 3000)
		srv.Inject(zktest.Rule{Op: zkinside.OpSetWatches, Times: -1, Do: zktest.DelayReply(2 * time.Second)})
		srv.RefuseConnections(true)
		srv.CutAll()
		time.Sleep(time.Second)
		for i := range watches {
			require.NoError(t, srv.Set(manyName(i), []byte("changed")))
		}
		srv.RefuseConnections(false)
		for range 50 { // somebody uses the client meanwhile
			c.Exists(within(t, 5*time.Second), "/")
			time.Sleep(200 * time.Millisecond)
		}
		for _, w := range watches {
			_, err := w.Wait(within(t, time.Minute))
			require.NoError(t, err)
		}
	})
}

func manyWatches(t *testing.T, srv *zktest.Server, c *framework.Client, n int) []*framework.Watch {
	t.Helper()
	watches := make([]*framework.Watch, n)
	for i := range watches {
		require.NoError(t, srv.Create(manyName(i), nil))
		_, _, w, err := c.GetW(t.Context(), manyName(i))
		require.NoError(t, err)
		watches[i] = w
	}
	return watches
}

func manyName(i int) string { return fmt.Sprintf("/%s-%d", strings.Repeat("x", 150), i) }

// Requests of the client's own are bounded, too, and not given up silently.
func TestWatchesAreSetAgainInRequestsThatServersTake(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c := newClient(t, srv, framework.WithMaxRequestSize(32<<10))
		manyWatches(t, srv, c, 500)
		require.Len(t, srv.Watches(), 500)
		srv.CutAll()
		time.Sleep(5 * time.Second)
		require.NoError(t, c.Sync(t.Context(), "/"))
		require.Len(t, srv.Watches(), 500)
	})
}

// A server that is slow, but answers all the time, is not mute.
func TestBusyConnectionIsNotTakenForMute(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		require.NoError(t, c.WaitConnected(t.Context()))
		srv.Inject(zktest.Rule{Op: zktest.OpGetData, Times: -1, Do: zktest.DelayRequest(100 * time.Millisecond)})
		time.Sleep(2900 * time.Millisecond) // a ping gets behind all of them
		var callers sync.WaitGroup
		for range 64 {
			callers.Go(func() {
				for range 3 {
					_, _, err := c.Get(t.Context(), "/")
					assert.NoError(t, err)
					assert.Equal(t, state.Connected, c.State())
				}
			})
		}
		callers.Wait()
	})
}
