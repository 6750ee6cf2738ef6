package tracing_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// Contenders of every kind come, wait, give up, and lose their sessions and
// connections. Each span ends once, the counts of waiters and holders are zero
// in the end, and every acquire has one outcome.
func TestEverySpanEndsWhateverHappens(t *testing.T) {
	for seed := range thorough.Size[uint64](4, 2) {
		synctest.Test(t, func(t *testing.T) {
			s := &story{T: t, srv: zktest.Start(t), names: newNormalizer()}
			rng := rand.New(rand.NewPCG(seed, 0))
			var all []*service
			for range 3 {
				all = append(all, s.service("orders"))
			}
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			var contenders sync.WaitGroup
			for _, v := range all {
				for _, acquire := range v.acquirersOfEveryKind() {
					pauses := rand.New(rand.NewPCG(rng.Uint64(), 0))
					contenders.Go(func() { contend(ctx, acquire, pauses) })
				}
			}
			for ctx.Err() == nil {
				time.Sleep(time.Duration(rng.IntN(4000)) * time.Millisecond)
				victim := all[rng.IntN(len(all))].client.SessionID()
				if rng.IntN(2) == 0 {
					s.srv.Session(victim).Expire()
				} else {
					s.srv.Session(victim).Cut()
				}
			}
			contenders.Wait()
			for _, v := range all {
				require.NoError(t, v.client.Close())
			}
			synctest.Wait()
			losses := 0
			for _, v := range all {
				v.requireAllEnded(t)
				losses += v.totals(t)["curator.lock.losses"]
			}
			require.Positive(t, losses, "some service holds something when it loses its session")
		})
	}
}

type acquirer func(context.Context) (*locks.Lease, error)

// acquirersOfEveryKind returns acquires of every kind of lock in package
// recipes.
func (v *service) acquirersOfEveryKind() []acquirer {
	handed := v.mutex(locks.WithReleasePolicy(locks.ReleasePolicy{MaxReuses: 3, HandOver: time.Minute}))
	readWrite := locks.NewInterProcessReadWriteLock(v.client, "/locks/prices")
	semaphore := locks.NewInterProcessSemaphore(v.client, "/locks/printers", locks.Limit(2))
	return []acquirer{
		v.mutex(locks.WithRevocation()).Acquire, handed.Acquire, handed.Acquire, handed.TryAcquire,
		readWrite.ReadLock().Acquire, readWrite.WriteLock().Acquire, semaphore.Acquire,
		func(ctx context.Context) (*locks.Lease, error) { return semaphore.AcquireN(ctx, 2) },
	}
}

func contend(ctx context.Context, acquire acquirer, rng *rand.Rand) {
	pause := func(most time.Duration) { time.Sleep(time.Duration(rng.Int64N(int64(most)))) }
	for ctx.Err() == nil {
		pause(time.Second)
		within, cancel := context.WithTimeout(ctx, time.Duration(rng.Int64N(int64(10*time.Second))))
		lease, err := acquire(within)
		if err == nil {
			pause(2 * time.Second)
			// May fail: the lease was lost or the context has ended.
			_ = lease.Release(within)
		}
		cancel()
	}
}

// requireAllEnded requires that all spans have ended and that the metrics agree
// with them.
func (v *service) requireAllEnded(t *testing.T) {
	t.Helper()
	require.Greater(t, len(v.spans.Started()), 100)
	require.Len(t, v.spans.Ended(), len(v.spans.Started()))
	acquires := 0
	for _, span := range v.spans.Ended() {
		if _, ok := attributesOf(span.Attributes())["curator.lock.outcome"]; ok {
			acquires++
		}
	}
	totals := v.totals(t)
	require.Zero(t, totals["curator.lock.waiters"])
	require.Zero(t, totals["curator.lock.holders"])
	require.Equal(t, acquires, totals["curator.lock.acquisitions"])
	require.Positive(t, totals["curator.session.expiries"])
}
