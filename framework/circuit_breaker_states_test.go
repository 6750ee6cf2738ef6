package framework_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/retry"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// breaker starts to read a client's circuit breaker states, all those after
// this call.
func breaker(t *testing.T, ctx context.Context, c *framework.Client, p retry.Policy) *history {
	t.Helper()
	h := &history{}
	seq, err := c.CircuitBreakerStates(ctx, p)
	require.NoError(t, err)
	go func() {
		for s := range seq {
			h.mu.Lock()
			h.states = append(h.states, s)
			h.times = append(h.times, time.Now())
			h.mu.Unlock()
		}
	}()
	return h
}

func TestCircuitBreakerStatesTellLittleWhileTheConnectionFlaps(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		all, few := observe(t, c), breaker(t, t.Context(), c, retry.Forever(time.Minute))
		begin := time.Now()
		for range 4 { // TestLeaderLatch#testWithCircuitBreaker
			outage(srv, time.Second)
			time.Sleep(4 * time.Second)
		}
		require.Len(t, all.seen(), 8)
		require.Equal(t, []state.State{state.Suspended}, few.seen())
		outage(srv, 30*time.Second)
		time.Sleep(time.Hour)
		require.Equal(t, []state.State{state.Suspended, state.Lost, state.Reconnected}, few.seen())
		require.Equal(t, begin, few.when(0), "the first is told at once")
		require.Equal(t, time.Minute, few.when(2).Sub(begin), "the return after the pause")
	})
}

func TestCircuitBreakerStatesOfAnIdleConnectionAreLikeStates(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		all, few := observe(t, c), breaker(t, t.Context(), c, retry.N(3, 10*time.Second))
		for range 3 {
			outage(srv, time.Minute)
			time.Sleep(time.Hour)
		}
		require.Len(t, all.seen(), 9)
		require.Equal(t, all.seen(), few.seen())
		require.Equal(t, all.when(1), few.when(1))
	})
}

func TestCircuitBreakerStatesWithAPolicyThatNeverRetriesAreStates(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		all, few := observe(t, c), breaker(t, t.Context(), c, retry.None())
		for i := range 20 {
			outage(srv, time.Duration(i)*time.Second)
			time.Sleep(time.Duration(i%3) * time.Second)
		}
		require.Equal(t, all.seen(), few.seen())
	})
}

func TestCircuitBreakerStatesEndWithTheContextTheClientAndTheLoop(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		var ended sync.WaitGroup
		begin := time.Now()
		until := func(ctx context.Context, leave bool) {
			seq, err := c.CircuitBreakerStates(ctx, retry.Forever(time.Minute))
			require.NoError(t, err)
			ended.Go(func() {
				for range seq {
					if leave {
						return
					}
				}
			})
		}
		until(within(t, 10*time.Second), false)
		until(t.Context(), true)
		outage(srv, time.Second) // all circuits are open
		ended.Wait()
		require.Equal(t, 10*time.Second, time.Since(begin))

		until(t.Context(), false)
		synctest.Wait()
		require.NoError(t, c.Close())
		ended.Wait()
	})
}

func TestCircuitBreakerStatesBeginWithTheCallAndAnewWithEachLoop(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		seq, err := c.CircuitBreakerStates(within(t, time.Hour), retry.Forever(time.Second))
		require.NoError(t, err)
		outage(srv, 2*time.Second)
		time.Sleep(time.Minute)
		for range 2 {
			var seen []state.State
			for s := range seq {
				if seen = append(seen, s); len(seen) == 2 {
					break
				}
			}
			require.Equal(t, []state.State{state.Suspended, state.Reconnected}, seen)
		}
		_, err = c.CircuitBreakerStates(t.Context(), nil)
		var config *framework.ConfigError
		require.ErrorAs(t, err, &config)
	})
}
