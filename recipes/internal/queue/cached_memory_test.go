package queue_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/recipes/internal/queue"
	"github.com/gocurator/curator/testing/zktest"
)

// A waiter may leave while the release makes a claim for it. The lock is cached
// then, for a claim of its own. The session, which may last for days, does not
// know of the other claim any more.
//
// Promise: A lock that is handed to a waiter who has left is released.
func TestClaimThatNobodyTakesEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		var whenAsked atomic.Pointer[func()]
		c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()),
			insider.WithSuspendClock(func() time.Duration {
				if do := whenAsked.Swap(nil); do != nil {
					(*do)()
				}
				return 0
			}).(framework.Option))
		require.NoError(t, err)
		defer c.Close()
		q := cachedAndHandedOver(c)

		// The first rounds fill what is kept of a fixed number of acquires. A context
		// that its parent knows takes 130 bytes.
		round := func() {
			lease, err := q.Acquire(t.Context(), true)
			require.NoError(t, err)
			ctx, leave := context.WithCancel(t.Context())
			left := make(chan error)
			go func() {
				_, err := q.Acquire(ctx, true)
				left <- err
			}()
			synctest.Wait()
			asked := func() {
				leave()
				require.ErrorIs(t, <-left, context.Canceled)
			}
			whenAsked.Store(&asked)
			require.NoError(t, lease.Release(t.Context()))
			require.Nil(t, whenAsked.Load(), "the clock was not asked")
		}
		for range 100 {
			round()
		}
		before := liveBytes()
		const rounds = 1000
		for range rounds {
			round()
		}
		perRound := (liveBytes() - before) / rounds
		require.Less(t, perRound, int64(40), "bytes that each round leaves")
	})
}

func liveBytes() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// cachedAndHandedOver returns a lock that goroutines hand over, and that stays.
func cachedAndHandedOver(c *framework.Client) *queue.Queue {
	return queue.New(queue.Config{
		Client: c, Path: "/m", Kind: "lock-", Local: true,
		NotAcquired: func(n queue.NotAcquired) error { return n.Err },
		Options: queue.Options{
			HandOvers: 1e6, HandOver: 1e6 * time.Hour, CachedUses: 1e6, CachedIdle: time.Hour,
		},
	})
}
