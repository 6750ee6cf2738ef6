package framework_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
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

func TestWaitConnectedEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		srv.RefuseConnections(true)
		c := newClient(t, srv)
		begin := time.Now()
		err := c.WaitConnected(within(t, 7*time.Second))
		require.Equal(t, 7*time.Second, time.Since(begin))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "connection refused", "it says why there is no connection")
		var op *framework.OpError
		require.ErrorAs(t, err, &op)
		require.Equal(t, "connect", op.Op)
	})
}

func TestWaitConnectedEndsWithClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		srv.RefuseConnections(true)
		c := newClient(t, srv)
		errs := make(chan error)
		for range 3 {
			go func() { errs <- c.WaitConnected(context.Background()) }()
		}
		time.Sleep(time.Second)
		require.NoError(t, c.Close())
		for range 3 {
			require.ErrorIs(t, <-errs, framework.ErrClosed)
		}
		require.ErrorIs(t, c.WaitConnected(t.Context()), framework.ErrClosed)
	})
}
