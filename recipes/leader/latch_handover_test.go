package leader_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// An orderly hand-over: the leader asks its work to stop, the work finishes in
// time, and the next candidate leads.
func TestLeaderHandsOverInTime(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		latches, lease := w.startLatches(t, path, 2)
		finished := make(chan struct{})
		go func() {
			defer close(finished)
			<-lease.Revoked()
			assert.NoError(t, lease.Context().Err(), "it may finish what it is doing")
			assert.NoError(t, lease.Release(ctx))
		}()
		require.NoError(t, latches[0].HandOver(ctx))
		<-finished
		require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrReleased)
		require.Greater(t, w.await(t, latches[1]).FencingToken(), lease.FencingToken())
		w.closeAll(t, path, latches...)
	})
}

// Work that does not finish is stopped at the deadline.
func TestHandOverIsForcedAtItsDeadline(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		latches, lease := w.startLatches(t, "/l", 2)
		start := time.Now()
		handed := make(chan error)
		go func() { handed <- latches[0].HandOver(recipetest.Within(t, time.Minute)) }()
		time.Sleep(time.Minute - 1)
		synctest.Wait()
		require.True(t, recipetest.IsClosed(lease.Revoked()))
		require.NoError(t, lease.Context().Err())
		require.ErrorIs(t, <-handed, context.DeadlineExceeded)
		require.ErrorIs(t, w.endOf(t, lease), locks.ErrRevoked)
		w.await(t, latches[1])
		require.Equal(t, time.Minute, time.Since(start))
		w.closeAll(t, "/l", latches...)
	})
}

func TestHandOverNeedsALeaderAndASuccessor(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		latches, lease := w.startLatches(t, path, 2)
		require.ErrorIs(t, latches[1].HandOver(ctx), leader.ErrNotLeader)
		require.ErrorIs(t, latches[1].Resign(ctx), leader.ErrNotLeader)
		require.NoError(t, latches[1].Shutdown(ctx))
		w.WaitNodes(t, path, 1)
		require.ErrorIs(t, latches[0].HandOver(ctx), leader.ErrNoSuccessor)
		require.NoError(t, lease.Context().Err(), "it goes on")
		require.False(t, recipetest.IsClosed(lease.Revoked()), "and was not asked")
		w.closeAll(t, path, latches[0])
		require.ErrorIs(t, latches[0].HandOver(ctx), leader.ErrNotLeader)
	})
}

// Resign gives the leadership up at once.
func TestLeaderResigns(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		latches, lease := w.startLatches(t, path, 2)
		require.NoError(t, latches[0].Resign(ctx))
		require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrReleased)
		require.ErrorIs(t, lease.Release(ctx), locks.ErrReleased)
		next := w.await(t, latches[1])
		w.WaitNodes(t, path, 2)
		require.NoError(t, next.Context().Err())
		w.closeAll(t, path, latches...)
	})
}

// Several calls hand over at once. The latch gives the leadership up once, and
// the successor's leadership is not touched.
func TestHandOversOfOneLeadershipAreOne(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		latches, lease := w.startLatches(t, "/l", 2)
		results := make(chan error)
		for i := range 5 {
			go func() { results <- latches[0].HandOver(recipetest.Within(t, time.Duration(i+1)*time.Second)) }()
		}
		synctest.Wait()
		require.NoError(t, lease.Release(t.Context()))
		for range 5 {
			require.NoError(t, <-results)
		}
		next := w.await(t, latches[1])
		time.Sleep(time.Minute)
		require.NoError(t, next.Context().Err())
		w.closeAll(t, "/l", latches...)
	})
}

// The session is lost while the leader is asked to finish. The leadership
// passes on all the same.
func TestLeaderIsLostDuringItsHandOver(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		first, second, lease, network := w.leaderAndNext(t, "/l")
		handed := make(chan error)
		go func() { handed <- first.HandOver(recipetest.Within(t, time.Minute)) }()
		synctest.Wait()
		network.Expire(t)
		require.NoError(t, <-handed)
		require.ErrorIs(t, context.Cause(lease.Context()), framework.ErrSessionLost)
		w.await(t, second)
		w.closeAll(t, "/l", first, second)
	})
}

// The connection is interrupted while the hand-over looks for a successor,
// before the leader is asked to finish. The latch leads again with its node.
// That is another leadership. So the hand-over does not wait for its end, since
// the leadership that it was called for is over.
func TestLeaderIsInterruptedBeforeItIsAskedToHandOver(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		first, second, lease, _ := w.leaderAndNext(t, "/l", framework.WithErrorPolicy(state.StandardPolicy))
		w.Fake.Inject(zktest.Rule{Op: zkinside.OpGetChildren2, Do: zktest.DropReply()})
		start := time.Now()
		require.ErrorIs(t, first.HandOver(recipetest.Within(t, time.Minute)), leader.ErrNotLeader)
		require.Less(t, time.Since(start), 30*time.Second)
		require.ErrorIs(t, context.Cause(lease.Context()), framework.ErrSuspended)
		again := w.await(t, first)
		require.Equal(t, lease.Path(), again.Path())
		require.False(t, recipetest.IsClosed(again.Revoked()))
		w.closeAll(t, "/l", first, second)
	})
}
