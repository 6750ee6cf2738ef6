package tracing_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes"
)

// The leader is asked to step down, within a second, and the next one resigns. Both stand again.
func TestLeaderLatch(t *testing.T) {
	tell(t, func(s *story) {
		first, second := s.service("worker-1"), s.service("worker-2")
		latch := func(v *service) *recipes.LeaderLatch {
			l := recipes.NewLeaderLatch(v.client, "/leader", recipes.WithName("worker"), recipes.WithGrace(time.Second))
			require.NoError(s, l.Start())
			time.Sleep(100 * time.Millisecond)
			return l
		}
		one, two := latch(first), latch(second)
		lease := s.must(one.Await(context.Background()))
		time.Sleep(time.Second)
		require.NoError(s, recipes.Revoke(context.Background(), second.client, lease.Path()))
		s.must(two.Await(context.Background()))
		time.Sleep(time.Second)
		require.NoError(s, two.Resign(context.Background()))
		s.must(one.Await(context.Background()))
		time.Sleep(time.Second)
		require.NoError(s, two.Close(context.Background()))
		require.NoError(s, one.Close(context.Background()))
	})
}

func TestLeaderSelectorWhoseWorkGoesOn(t *testing.T) {
	tell(t, func(s *story) {
		worker := s.service("worker")
		require.ErrorIs(s, overrun(worker), recipes.ErrRevoked)
	})
}

// overrun is a leadership whose work goes on for three seconds after it was ended.
func overrun(v *service) error {
	selector := recipes.NewLeaderSelector(v.client, "/leader", recipes.WithName("worker"), recipes.WithOverrunReport(time.Second))
	return selector.Run(context.Background(), func(ctx context.Context) error {
		gone, cancel := context.WithCancel(ctx)
		cancel()
		selector.Resign(gone)
		<-ctx.Done()
		time.Sleep(3 * time.Second)
		return nil
	})
}

func TestClosedLeaderIsNoCancelledAcquire(t *testing.T) {
	alone(t, func(t *testing.T, s *story, v *service) {
		latch := recipes.NewLeaderLatch(v.client, "/leader")
		require.NoError(t, latch.Start())
		s.must(latch.Await(t.Context()))
		require.NoError(t, latch.Close(t.Context()))
		synctest.Wait()
		require.Len(t, v.spans.Ended(), 2)
		v.named(t, "acquire leader_latch")
		v.named(t, "hold leader_latch")
	})
}

// Spans can be joined by the names of nodes.
func TestHoldersNodeIsFoundAsItsOwnersNode(t *testing.T) {
	alone(t, func(t *testing.T, s *story, holder *service) {
		waiter := s.service("stock")
		lease := s.must(holder.mutex().Acquire(t.Context()))
		next := s.later(func() (*recipes.Lease, error) { return waiter.mutex().Acquire(t.Context()) })
		s.release(lease, time.Second)
		s.release(<-next, 0)
		synctest.Wait()
		node := about(holder.named(t, "hold sku").Attributes())["curator.lock.node"]
		require.NotEmpty(t, node)
		require.Equal(t, node, about(waiter.named(t, "acquire sku").Attributes())["curator.lock.holder.node"])
	})
}
