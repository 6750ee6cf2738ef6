package locks_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// A look behind two others asks a watch, which tells of changes.
func TestLookOfATryIsToldOfChanges(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		third, _ := w.Connect(t)
		held, lock := tryToHold(t, mutexAt(w.Observer)), mutexAt(c)
		for range 4 {
			require.Equal(t, 1, isRefused(t, lock).Ahead)
		}
		waiting := locktest.AcquireLater(w.Patience(t), mutexAt(third))
		synctest.Wait()
		for range 4 {
			require.Equal(t, 2, isRefused(t, lock).Ahead)
		}
		require.NoError(t, held.Release(t.Context()))
		synctest.Wait()
		for range 4 {
			refused := isRefused(t, lock)
			require.Equal(t, 1, refused.Ahead)
			require.Equal(t, waiting.Lease.Path(), "/l/"+refused.Holder)
			require.Equal(t, time.Now(), refused.Seen)
		}
		require.NoError(t, waiting.Lease.Release(t.Context()))
		require.NoError(t, tryToHold(t, lock).Release(t.Context()))
	})
}

// The watch is one of this connection.
func TestLookOfATryListsBehindAReconnect(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, network := w.Connect(t)
		held, lock := tryToHold(t, mutexAt(w.Observer)), mutexAt(c)
		for range 4 {
			isRefused(t, lock)
		}
		network.Cut()
		synctest.Wait()
		require.NoError(t, c.WaitConnected(t.Context()))
		synctest.Wait()
		w.Fake.ClearRequests()
		isRefused(t, lock)
		require.Equal(t, []zktest.Op{toSync, list}, w.Requests())
		require.NoError(t, held.Release(t.Context()))
	})
}

// The watch goes when looks refuse no more.
func TestLooksOfTriesLeaveNoWatch(t *testing.T) {
	forAllTried(t, func(t *testing.T, w *world, kind tried, lock, rival locks.Locker) {
		held := tryToHold(t, rival)
		for range 4 {
			isRefused(t, lock)
		}
		require.NoError(t, held.Release(t.Context()))
		held = tryToHold(t, rival)
		isRefused(t, lock)
		isRefused(t, lock)
		w.Fake.ClearRequests()
		time.Sleep(2 * time.Second)
		require.Equal(t, 1, w.Fake.CountRequests(zktest.OpRemoveWatches))
		require.NoError(t, held.Release(t.Context()))
		time.Sleep(time.Second)
		w.NoWatches(t)
	})
}
