package framework_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest"
)

func TestWaitConnectedReleasesEveryWaiterAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		srv.RefuseConnections(true)
		c := newClient(t, srv)
		var waiters sync.WaitGroup
		var mu sync.Mutex
		var done []time.Time
		for range 10 {
			waiters.Go(func() {
				err := c.WaitConnected(context.Background())
				mu.Lock()
				defer mu.Unlock()
				done = append(done, time.Now())
				assert.NoError(t, err)
			})
		}
		time.Sleep(time.Hour) // much longer than the connection timeout, which does not count here
		require.Empty(t, done)
		srv.RefuseConnections(false)
		waiters.Wait()
		for _, at := range done {
			require.Equal(t, done[0], at)
		}
	})
}
