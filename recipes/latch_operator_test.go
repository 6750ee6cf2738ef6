package recipes_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes"
)

// stands starts n latches of as many clients, one behind the other, and returns them with the lease of the first.
func (w *world) stands(t *testing.T, path string, n int, opts ...recipes.LockOption) ([]*recipes.LeaderLatch, *recipes.Lease) {
	t.Helper()
	var latches []*recipes.LeaderLatch
	for i := range n {
		c, _ := w.connect(t)
		latches = append(latches, latch(t, c, path, opts...))
		w.waitNodes(t, path, i+1)
	}
	return latches, w.await(t, latches[0])
}

// leaderAndNext starts two latches of two clients, the first of which leads, and returns that one's lease and wire. The
// options are for its client.
func (w *world) leaderAndNext(t *testing.T, path string, opts ...framework.Option) (first, second *recipes.LeaderLatch, lease *recipes.Lease, knife *wire) {
	t.Helper()
	c, knife := w.connect(t, opts...)
	first = latch(t, c, path)
	lease = w.await(t, first)
	other, _ := w.connect(t)
	second = latch(t, other, path)
	w.waitNodes(t, path, 2)
	return first, second, lease, knife
}

// endOf waits for the end of a leadership, and returns its reason.
func (w *world) endOf(t *testing.T, lease *recipes.Lease) error {
	t.Helper()
	select {
	case <-lease.Context().Done():
		return context.Cause(lease.Context())
	case <-w.patience(t).Done():
		t.Fatal("the leadership does not end")
		return nil
	}
}

// closeAll closes latches, and looks for what they have left.
func (w *world) closeAll(t *testing.T, path string, latches ...*recipes.LeaderLatch) {
	t.Helper()
	for _, l := range latches {
		require.NoError(t, l.Close(w.patience(t)))
	}
	w.nothingLeft(t, path)
}

// CURATOR-171 and E21: a leader whose node was deleted stops, the next leads, and it queues again.
func TestLeaderNoticesTheDeletionOfItsNode(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		latches, lease := w.stands(t, path, 2)
		require.NoError(t, w.observer.Delete(ctx, lease.Path(), framework.AnyVersion))
		require.ErrorIs(t, w.endOf(t, lease), recipes.ErrNodeDeleted)
		next := w.await(t, latches[1])
		require.Greater(t, next.FencingToken(), lease.FencingToken())
		w.waitNodes(t, path, 2)
		require.Nil(t, latches[0].Leadership())
		require.NoError(t, next.Release(ctx))
		require.Greater(t, w.await(t, latches[0]).FencingToken(), next.FencingToken())
		w.closeAll(t, path, latches...)
	})
}

// E21: a candidate whose node was deleted does not wait until the one ahead of it moves to find out.
func TestCandidateNoticesTheDeletionOfItsNode(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		latches, lease := w.stands(t, path, 3)
		all, err := latches[0].Participants(ctx)
		require.NoError(t, err)
		require.NoError(t, w.observer.Delete(ctx, all[1].Path, framework.AnyVersion))
		w.waitNodes(t, path, 3)
		queued, err := latches[0].Participants(ctx)
		require.NoError(t, err)
		require.Equal(t, all[2].Path, queued[1].Path, "it is in the queue again, at the end")
		require.NoError(t, lease.Context().Err())
		require.NoError(t, latches[0].Close(ctx))
		third := w.await(t, latches[2])
		require.NoError(t, latches[2].Close(ctx))
		require.Greater(t, w.await(t, latches[1]).FencingToken(), third.FencingToken())
		w.closeAll(t, path, latches[1])
	})
}

// deleteAll deletes a path with everything below it, although those whose nodes go queue again meanwhile.
func (w *world) deleteAll(t *testing.T, path string) {
	t.Helper()
	err := zk.ErrNotEmpty
	for errors.Is(err, zk.ErrNotEmpty) {
		err = w.observer.Delete(w.patience(t), path, framework.AnyVersion, framework.WithChildren())
	}
	require.NoError(t, err)
}

// CURATOR-724: the parent is deleted with everything below it, again and again.
func TestLatchesOutliveTheDeletionOfEverything(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		path := path(t)
		latches, lease := w.stands(t, path, 3)
		for range 3 {
			w.deleteAll(t, path)
			require.ErrorIs(t, w.endOf(t, lease), recipes.ErrNodeDeleted)
			w.waitNodes(t, path, 3)
			next := w.oneLeads(t, latches)
			require.Greater(t, next.FencingToken(), lease.FencingToken(), "it grows although the server counts from 0 again")
			lease = next
		}
		w.closeAll(t, path, latches...)
	})
}

// oneLeads waits until one of the latches leads, and returns its lease.
func (w *world) oneLeads(t *testing.T, latches []*recipes.LeaderLatch) *recipes.Lease {
	t.Helper()
	ctx, cancel := context.WithCancel(w.patience(t))
	defer cancel()
	leaders := make(chan *recipes.Lease, len(latches))
	for _, l := range latches {
		go func() {
			if lease, err := l.Await(ctx); err == nil {
				leaders <- lease
			}
		}()
	}
	select {
	case lease := <-leaders:
		require.Empty(t, leaders)
		return lease
	case <-ctx.Done():
		t.Fatal("nobody leads")
		return nil
	}
}

// An operator asks the leader to step down, with the marker of Curator's Revoker. It does at once, and stands again.
func TestLeaderIsRevoked(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		latches, lease := w.stands(t, path, 2)
		leader, err := latches[1].Leader(ctx)
		require.NoError(t, err)
		require.Equal(t, lease.Path(), leader.Path)
		require.NoError(t, recipes.Revoke(ctx, w.observer, leader.Path))
		require.ErrorIs(t, w.endOf(t, lease), recipes.ErrRevoked)
		require.Greater(t, w.await(t, latches[1]).FencingToken(), lease.FencingToken())
		w.waitNodes(t, path, 2)
		w.closeAll(t, path, latches...)
	})
}

// Revocation with a time of grace: the work is told, and is stopped only when the time is over.
func TestRevokedLeaderHasItsGrace(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.patience(t)
		latches, lease := w.stands(t, "/l", 2, recipes.WithGrace(time.Minute))
		revoked := time.Now()
		require.NoError(t, recipes.Revoke(ctx, w.observer, lease.Path()))
		<-lease.Revoked()
		require.Zero(t, time.Since(revoked))
		time.Sleep(time.Minute - 1)
		require.NoError(t, lease.Context().Err())
		require.ErrorIs(t, w.endOf(t, lease), recipes.ErrRevoked)
		require.Equal(t, time.Minute, time.Since(revoked))

		lease = w.await(t, latches[1])
		synctest.Wait() // the first stands again, before the second does
		require.NoError(t, recipes.Revoke(ctx, w.observer, lease.Path()))
		<-lease.Revoked()
		require.NoError(t, lease.Release(ctx), "it may stop earlier")
		w.await(t, latches[0])
		w.closeAll(t, "/l", latches...)
	})
}

// Who was asked to step down while it was waiting is asked again when it leads: the marker is on its node.
func TestCandidateThatWasRevokedStepsDown(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.patience(t)
		latches, lease := w.stands(t, "/l", 3)
		all, err := latches[0].Participants(ctx)
		require.NoError(t, err)
		require.NoError(t, recipes.Revoke(ctx, w.observer, all[1].Path))
		synctest.Wait()
		require.Len(t, w.nodes(t, "/l"), 3)
		require.NoError(t, lease.Release(ctx))
		third := w.await(t, latches[2])
		time.Sleep(time.Minute)
		require.NoError(t, third.Context().Err())
		w.closeAll(t, "/l", latches...)
	})
}
