package shared_test

import (
	"context"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/shared"
	"github.com/gocurator/curator/testing/zktest"
)

// After each reconnect the node is read again, once, whether the server tells
// of a change or not (CURATOR-311).
//
// Promise: A shared value is read again after each reconnect.
func TestValueIsReadAgainAfterEachReconnect(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		n := w.count(t, c, "/n", 0)
		session := c.SessionID()
		for i := range int32(10) {
			w.Fake.ClearRequests()
			w.Fake.CutAll()
			settle()
			require.Equal(t, []zktest.Op{zkinside.OpSetWatches, zktest.OpGetData}, w.requests(session))
			w.Fake.Stop()
			settle()
			w.Fake.Restart()
			require.NoError(t, w.Fake.Set("/n", bytesOf(i+1)))
			require.NoError(t, c.WaitConnected(w.Patience(t)))
			settle()
			require.Equal(t, i+1, get(t, n).Value)
		}
		require.Equal(t, session, c.SessionID())
	})
}

// A Value is there before there is a server. In an outage it shows what it
// knew.
func TestOutages(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		w.Fake.Stop()
		c, err := framework.New(w.Addr, framework.WithDialer(w.Dial), framework.WithSessionTimeout(w.Session))
		require.NoError(t, err)
		defer c.Close()
		n, err := shared.NewCount(c, "/n", 7)
		require.NoError(t, err)
		defer n.Close()
		require.ErrorIs(t, n.WaitSynced(recipetest.Within(t, time.Hour)), framework.ErrNotConnected)
		w.Fake.Restart()
		require.NoError(t, n.WaitSynced(w.Patience(t)))
		w.Fake.Stop()
		time.Sleep(time.Hour)
		require.Equal(t, int32(7), get(t, n).Value)
		require.ErrorIs(t, n.Set(t.Context(), 8), framework.ErrNotConnected)
		require.NoError(t, n.Err())
		w.Fake.Restart()
		require.NoError(t, c.WaitConnected(w.Patience(t)))
		require.NoError(t, n.Set(t.Context(), 8))
	})
}

// An ensemble that was set back to an older state sets the Value back, and the
// log says so.
func TestEnsembleThatWasSetBack(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		restored := zktest.Start(t)
		require.NoError(t, restored.Create("/n", bytesOf(1)))
		var servers [2]*zktest.Server
		servers[0], servers[1] = w.Fake, restored
		now := 0
		dial := framework.WithDialer(func(ctx context.Context, network, _ string) (net.Conn, error) {
			return servers[now].Dialer()(ctx, network, servers[now].Addr())
		})
		var log recipetest.Log
		c, err := framework.New(w.Addr, dial, framework.WithSessionTimeout(w.Session), framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		require.NoError(t, err)
		defer c.Close()
		for range 50 {
			require.NoError(t, w.Fake.Create("/other", nil))
			require.NoError(t, w.Fake.Delete("/other"))
		}
		n := w.count(t, c, "/n", 7)
		now = 1
		w.Fake.Stop()
		require.Equal(t, int64(1), w.await(t, n, 1).Czxid)
		settle()
		require.Contains(t, log.String(), "zookeeper has gone back to an older state, and the shared value with it")
	})
}

// A semaphore's shared limit is a count, and the other way round.
func TestCountIsTheLimitOfASemaphore(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		path := recipetest.Path(t)
		c, _ := w.Connect(t)
		n := w.count(t, c, path+"-limit", 1)
		s := locks.NewInterProcessSemaphore(w.Observer, path, locks.SharedLimit(path+"-limit", 5))
		first, err := s.Acquire(w.Patience(t))
		require.NoError(t, err)
		second := make(chan error, 1)
		go func() {
			lease, err := s.Acquire(w.Patience(t))
			second <- err
			if err == nil {
				second <- lease.Release(w.Patience(t))
			}
		}()
		w.WaitNodes(t, path+"/locks", 1)
		require.NoError(t, n.Set(w.Patience(t), 2))
		require.NoError(t, <-second)
		require.NoError(t, <-second)
		require.NoError(t, first.Release(w.Patience(t)))
		require.NoError(t, locks.SetSharedLimit(w.Patience(t), w.Observer, path+"-limit", 3))
		w.await(t, n, 3)
	})
}
