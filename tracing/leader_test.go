package tracing_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// Within a second the first leader is asked to step down, and later the second
// resigns. Both become candidates again.
func TestLeaderLatch(t *testing.T) {
	runStory(t, func(s *story) {
		first, second := s.service("worker-1"), s.service("worker-2")
		latch := func(v *service) *leader.Latch {
			l, err := leader.NewLatch(v.client, "/leader",
				leader.WithName("worker"), leader.WithGrace(time.Second))
			require.NoError(s, err)
			time.Sleep(100 * time.Millisecond)
			return l
		}
		one, two := latch(first), latch(second)
		lease := s.must(one.WaitLeadership(context.Background()))
		time.Sleep(time.Second)
		require.NoError(s, locks.Revoke(context.Background(), second.client, lease.Path()))
		s.must(two.WaitLeadership(context.Background()))
		time.Sleep(time.Second)
		require.NoError(s, two.Resign(context.Background()))
		s.must(one.WaitLeadership(context.Background()))
		time.Sleep(time.Second)
		require.NoError(s, two.Shutdown(context.Background()))
		require.NoError(s, one.Shutdown(context.Background()))
	})
}

func TestLeaderSelectorWhoseWorkGoesOn(t *testing.T) {
	runStory(t, func(s *story) {
		worker := s.service("worker")
		require.ErrorIs(s, runOverrun(worker), locks.ErrRevoked)
	})
}

// runOverrun leads once. The work goes on for twelve seconds after the end of
// its leadership.
func runOverrun(v *service) error {
	selector := leader.NewSelector(v.client, "/leader", leader.WithName("worker"))
	return selector.Run(context.Background(), func(ctx context.Context) error {
		gone, cancel := context.WithCancel(ctx)
		cancel()
		synctest.Wait() // the client watches its node by now
		selector.Resign(gone)
		<-ctx.Done()
		time.Sleep(12 * time.Second)
		return nil
	})
}

func TestClosedLeaderIsNoCancelledAcquire(t *testing.T) {
	withService(t, func(t *testing.T, s *story, v *service) {
		latch, err := leader.NewLatch(v.client, "/leader")
		require.NoError(t, err)
		s.must(latch.WaitLeadership(t.Context()))
		require.NoError(t, latch.Shutdown(t.Context()))
		synctest.Wait()
		require.Len(t, v.spans.Ended(), 2)
		v.endedSpan(t, "acquire leader_latch")
		v.endedSpan(t, "hold leader_latch")
	})
}

// Spans can be joined by the names of nodes.
func TestHoldersNodeIsFoundAsItsOwnersNode(t *testing.T) {
	withService(t, func(t *testing.T, s *story, holder *service) {
		waiter := s.service("stock")
		lease := s.must(holder.mutex().Acquire(t.Context()))
		next := s.inBackground(t.Context(), waiter.mutex().Acquire)
		s.release(lease, time.Second)
		s.release(<-next, 0)
		synctest.Wait()
		node := holder.attributeOf(t, "hold sku", "curator.lock.node")
		require.NotEmpty(t, node)
		require.Equal(t, node, waiter.attributeOf(t, "acquire sku", "curator.lock.holder.node"))
	})
}
