package tracing_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes"
	"github.com/gocurator/curator/testing/zktest"
	"github.com/gocurator/curator/tracing"
)

// Contenders of every kind come, wait, give up, lose their sessions and connections; each span ends once, nobody is
// counted as waiting or holding in the end, and every acquire has one outcome.
func TestEverySpanEndsWhateverHappens(t *testing.T) {
	for seed := range uint64(4) {
		synctest.Test(t, func(t *testing.T) {
			s := &story{T: t, srv: zktest.New(t), words: newWords()}
			dice := rand.New(rand.NewPCG(seed, 0))
			var all []*service
			for range 3 {
				all = append(all, s.service("orders"))
			}
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			var contenders sync.WaitGroup
			for _, v := range all {
				for _, acquire := range v.everyKind() {
					pauses := rand.New(rand.NewPCG(dice.Uint64(), 0))
					contenders.Go(func() { contend(ctx, acquire, pauses) })
				}
			}
			for ctx.Err() == nil {
				time.Sleep(time.Duration(dice.IntN(4000)) * time.Millisecond)
				victim := all[dice.IntN(len(all))].client.SessionID()
				if dice.IntN(2) == 0 {
					s.srv.ExpireSession(victim)
				} else {
					s.srv.CutSession(victim)
				}
			}
			contenders.Wait()
			for _, v := range all {
				require.NoError(t, v.client.Close())
			}
			synctest.Wait()
			losses := 0
			for _, v := range all {
				v.allIsOver(t)
				losses += v.totals(t)["curator.lock.losses"]
			}
			require.Positive(t, losses, "some service holds something when it loses its session")
		})
	}
}

type panicking struct{}

func (panicking) Acquire(context.Context) (*recipes.Lease, error)    { panic("the user's") }
func (panicking) TryAcquire(context.Context) (*recipes.Lease, error) { panic("the user's") }

func TestEverySpanOfAnAcquireEndsWhenCodeOfTheUsersPanics(t *testing.T) {
	panics := false
	wanted := func(framework.Operation) bool {
		if panics {
			panic("the user's")
		}
		return false
	}
	alone(t, func(t *testing.T, s *story, v *service) {
		panics = true
		require.Panics(t, func() { _, _ = v.mutex().Acquire(context.Background()) })
		panics = false
		require.Equal(t, "error", about(v.named(t, "acquire sku").Attributes())["curator.lock.outcome"])
		require.Panics(t, func() { _, _ = recipes.CombineLocks(v.mutex(), panicking{}).Acquire(context.Background()) })
		require.Zero(t, v.totals(t)["curator.lock.waiters"])
	}, tracing.WithOperations(wanted))
}

type acquirer func(context.Context) (*recipes.Lease, error)

// everyKind returns acquires of every kind of lock of the package.
func (v *service) everyKind() []acquirer {
	handed := v.mutex(recipes.WithLocalHandOver(3, time.Minute))
	readWrite := recipes.NewInterProcessReadWriteLock(v.client, "/locks/prices")
	semaphore := recipes.NewInterProcessSemaphore(v.client, "/locks/printers", 2)
	return []acquirer{
		v.mutex(recipes.Revocable()).Acquire, handed.Acquire, handed.Acquire, handed.TryAcquire,
		readWrite.Reader().Acquire, readWrite.Writer().Acquire, semaphore.Acquire,
		func(ctx context.Context) (*recipes.Lease, error) { return semaphore.AcquireN(ctx, 2) },
	}
}

func contend(ctx context.Context, acquire acquirer, dice *rand.Rand) {
	pause := func(most time.Duration) { time.Sleep(time.Duration(dice.Int64N(int64(most)))) }
	for ctx.Err() == nil {
		pause(time.Second)
		within, cancel := context.WithTimeout(ctx, time.Duration(dice.Int64N(int64(10*time.Second))))
		lease, err := acquire(within)
		if err == nil {
			pause(2 * time.Second)
			_ = lease.Release(within) // may be lost, or late
		}
		cancel()
	}
}

// allIsOver: the spans have ended, and the numbers agree with them.
func (v *service) allIsOver(t *testing.T) {
	t.Helper()
	require.Greater(t, len(v.spans.Started()), 100)
	require.Len(t, v.spans.Ended(), len(v.spans.Started()))
	acquires := 0
	for _, span := range v.spans.Ended() {
		if _, ok := about(span.Attributes())["curator.lock.outcome"]; ok {
			acquires++
		}
	}
	totals := v.totals(t)
	require.Zero(t, totals["curator.lock.waiters"])
	require.Zero(t, totals["curator.lock.holders"])
	require.Equal(t, acquires, totals["curator.lock.acquisitions"])
	require.Positive(t, totals["curator.session.expiries"])
}
