package leader_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// startLatches starts n latches of as many clients, one behind the other. It
// returns them with the lease of the first.
func (w *world) startLatches(t *testing.T, path string, n int, opts ...leader.Option) ([]*leader.Latch, *locks.Lease) {
	t.Helper()
	var latches []*leader.Latch
	for i := range n {
		c, _ := w.Connect(t)
		latches = append(latches, latch(t, c, path, opts...))
		w.WaitNodes(t, path, i+1)
	}
	return latches, w.await(t, latches[0])
}

// leaderAndNext starts two latches of two clients. The first one leads. The
// function returns its lease and its network. The options are for its client.
func (w *world) leaderAndNext(t *testing.T, path string, opts ...framework.Option) (first, second *leader.Latch, lease *locks.Lease, network *recipetest.Network) {
	t.Helper()
	c, network := w.Connect(t, opts...)
	first = latch(t, c, path)
	lease = w.await(t, first)
	other, _ := w.Connect(t)
	second = latch(t, other, path)
	w.WaitNodes(t, path, 2)
	return first, second, lease, network
}

// endOf waits for the end of a leadership, and returns the reason.
func (w *world) endOf(t *testing.T, lease *locks.Lease) error {
	t.Helper()
	select {
	case <-lease.Context().Done():
		return context.Cause(lease.Context())
	case <-w.Patience(t).Done():
		t.Fatal("the leadership does not end")
		return nil
	}
}

// closeAll shuts latches down, and checks that they leave nothing behind.
func (w *world) closeAll(t *testing.T, path string, latches ...*leader.Latch) {
	t.Helper()
	for _, l := range latches {
		require.NoError(t, l.Shutdown(w.Patience(t)))
	}
	w.NothingLeft(t, path)
}

// CURATOR-171: a waiting candidate whose node was deleted notices at once. It
// does not wait for a change of the candidate ahead of it.
//
// Promise: A candidate notices that its node was deleted.
func TestCandidateNoticesTheDeletionOfItsNode(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		latches, lease := w.startLatches(t, path, 3)
		all, err := latches[0].Participants(ctx)
		require.NoError(t, err)
		require.NoError(t, w.Observer.Delete(ctx, all[1].Path, framework.AnyVersion))
		w.WaitNodes(t, path, 3)
		queued, err := latches[0].Participants(ctx)
		require.NoError(t, err)
		require.Equal(t, all[2].Path, queued[1].Path, "it is in the queue again, at the end")
		require.NoError(t, lease.Context().Err())
		require.NoError(t, latches[0].Shutdown(ctx))
		third := w.await(t, latches[2])
		require.NoError(t, latches[2].Shutdown(ctx))
		require.Greater(t, w.await(t, latches[1]).FencingToken(), third.FencingToken())
		w.closeAll(t, path, latches[1])
	})
}

// deleteAll deletes a path with everything below it. It goes on while
// candidates whose nodes it deletes queue again.
func (w *world) deleteAll(t *testing.T, path string) {
	t.Helper()
	err := zk.ErrNotEmpty
	for errors.Is(err, zk.ErrNotEmpty) {
		err = w.Observer.Delete(w.Patience(t), path, framework.AnyVersion, framework.WithChildren())
	}
	require.NoError(t, err)
}

// CURATOR-724: the parent is deleted with everything below it, again and again.
func TestLatchesOutliveTheDeletionOfEverything(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		path := recipetest.Path(t)
		latches, lease := w.startLatches(t, path, 3)
		for range 3 {
			w.deleteAll(t, path)
			require.ErrorIs(t, w.endOf(t, lease), locks.ErrNodeDeleted)
			w.WaitNodes(t, path, 3)
			next := w.oneLeads(t, latches)
			require.Greater(t, next.FencingToken(), lease.FencingToken(), "it grows although the server counts from 0 again")
			lease = next
		}
		w.closeAll(t, path, latches...)
	})
}

// oneLeads waits until one of the latches leads, and returns its lease.
func (w *world) oneLeads(t *testing.T, latches []*leader.Latch) *locks.Lease {
	t.Helper()
	ctx, cancel := context.WithCancel(w.Patience(t))
	defer cancel()
	leaders := make(chan *locks.Lease, len(latches))
	for _, l := range latches {
		go func() {
			if lease, err := l.WaitLeadership(ctx); err == nil {
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

// A candidate that was asked to step down while it waited steps down when it
// leads, because the marker is still on its node.
func TestCandidateThatWasRevokedStepsDown(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		latches, lease := w.startLatches(t, "/l", 3)
		all, err := latches[0].Participants(ctx)
		require.NoError(t, err)
		require.NoError(t, locks.Revoke(ctx, w.Observer, all[1].Path))
		synctest.Wait()
		require.Len(t, w.Nodes(t, "/l"), 3)
		require.NoError(t, lease.Release(ctx))
		third := w.await(t, latches[2])
		time.Sleep(time.Minute)
		require.NoError(t, third.Context().Err())
		w.closeAll(t, "/l", latches...)
	})
}
