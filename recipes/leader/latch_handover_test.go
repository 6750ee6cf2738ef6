package leader_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
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
