package locks_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/state"
)

// readTogether acquires the read lock as often, and returns the leases, which share a
// node.
func readTogether(t *testing.T, ctx context.Context, rw *locks.InterProcessReadWriteLock, n int) (all []*locks.Lease) {
	t.Helper()
	for range n {
		all = append(all, locktest.Acquire(t, ctx, rw.ReadLock()))
		require.Equal(t, all[0].Path(), all[len(all)-1].Path())
	}
	return all
}

// A deletion of the node ends all leases, and each lease has the cause. The node of a
// lost lock stays until the last holder has stopped.
//
// Promise: Readers that share a node lose their leases together.
// Promise: The node of a lost shared lock stays until the last reader has stopped.
func TestReadersThatShareANodeLoseItTogether(t *testing.T) {
	for name, how := range map[string]struct {
		lose   func(w *world, c *framework.Client, n *recipetest.Network, node string)
		err    error
		stay   bool
		policy state.ErrorPolicy
	}{
		"session": {func(w *world, c *framework.Client, _ *recipetest.Network, _ string) {
			w.Fake.Session(c.SessionID()).Expire()
		}, framework.ErrSessionLost, false, state.SessionPolicy},
		"node":      {func(w *world, _ *framework.Client, _ *recipetest.Network, node string) { w.Fake.Delete(node) }, locks.ErrNodeDeleted, false, state.SessionPolicy},
		"suspended": {func(_ *world, _ *framework.Client, n *recipetest.Network, _ string) { n.Cut() }, framework.ErrSuspended, true, state.StandardPolicy},
		"revoked": {func(w *world, _ *framework.Client, _ *recipetest.Network, node string) {
			w.Fake.Set(node, []byte("__REVOKE__"))
		}, locks.ErrRevoked, true, state.SessionPolicy},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx, path := w.Patience(t), recipetest.Path(t)
				c, network := w.Connect(t, framework.WithErrorPolicy(how.policy))
				rw := cachedReads(c, path, locks.WithRevocation())
				all := readTogether(t, ctx, rw, 3)
				time.Sleep(2 * time.Second)
				how.lose(w, c, network, all[0].Path())
				time.Sleep(3 * time.Second)
				for _, l := range all {
					require.ErrorIs(t, context.Cause(l.Context()), how.err)
				}
				require.NoError(t, c.WaitConnected(ctx))
				next := locktest.Acquire(t, ctx, rw.ReadLock())
				require.NotEqual(t, all[0].Path(), next.Path())
				for i, l := range all {
					synctest.Wait()
					require.Equal(t, how.stay, w.exists(l.Path()), "%d", i)
					require.ErrorIs(t, l.Release(ctx), how.err)
				}
				synctest.Wait()
				require.False(t, w.exists(all[0].Path()))
				require.NoError(t, next.Context().Err())
				require.NoError(t, next.Release(ctx))
				w.NothingLeft(t, path)
			})
		})
	}
}

// A request to give the lock up reaches every holder, and keeps the node from
// becoming idle. Nobody joins then.
//
// Promise: A revocation request reaches every reader that shares the node.
func TestReadersThatShareANodeAreAskedTogether(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		rw := cachedReads(c, path)
		all := readTogether(t, ctx, rw, 3)
		asked := all[1].Revoked()
		synctest.Wait()
		require.NoError(t, locks.Revoke(ctx, c, all[0].Path()))
		synctest.Wait()
		require.True(t, recipetest.IsClosed(asked))
		for _, l := range all {
			require.True(t, recipetest.IsClosed(l.Revoked()))
			require.NoError(t, l.Context().Err(), "nothing is forced")
		}
		next := locktest.Acquire(t, ctx, rw.ReadLock())
		require.NotEqual(t, all[0].Path(), next.Path())
		for _, l := range all {
			require.True(t, w.exists(l.Path()))
			require.NoError(t, l.Release(ctx))
		}
		require.False(t, w.exists(all[0].Path()))
		require.NoError(t, next.Release(ctx))
		w.NothingLeft(t, path)
	})
}

// Each reader re-enters its own lease, and no other's.
func TestReaderThatSharesANodeReentersItsOwnLease(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		rw := cachedReads(c, path)
		all := readTogether(t, ctx, rw, 2)
		again := locktest.Acquire(t, all[0].Context(), rw.ReadLock())
		found, _ := locks.LeaseFromContext(again.Context())
		require.Same(t, again, found)
		_, err := rw.WriteLock().Acquire(all[0].Context())
		require.ErrorIs(t, err, locks.ErrUpgrade)
		released := context.WithoutCancel(all[1].Context())
		require.NoError(t, all[1].Release(ctx))
		writer := locktest.AcquireLater(ctx, rw.WriteLock())
		synctest.Wait()
		later := locktest.AcquireLater(released, rw.ReadLock())
		synctest.Wait()
		require.False(t, later.IsOver(), "it is behind the writer")
		third := locktest.Acquire(t, all[0].Context(), rw.ReadLock())
		for _, l := range []*locks.Lease{all[0], again, third} {
			require.False(t, writer.IsOver())
			require.NoError(t, l.Release(ctx))
		}
		wrote := writer.Wait(t)
		reads := locktest.Acquire(t, wrote.Context(), rw.ReadLock())
		require.Equal(t, wrote.FencingToken(), reads.FencingToken())
		require.NoError(t, wrote.Release(ctx))
		require.NoError(t, reads.Release(ctx))
		require.NoError(t, later.Wait(t).Release(ctx))
		w.NothingLeft(t, path)
	})
}

// Without a connection nobody would hear of a writer.
//
// Promise: No reader joins a shared node while the client has no connection.
func TestNoReaderJoinsWithoutAConnection(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, network := w.Connect(t)
		rw := cachedReads(c, path)
		all := readTogether(t, ctx, rw, 2)
		network.Refuse(true)
		network.Cut()
		synctest.Wait()
		later := locktest.AcquireLater(ctx, rw.ReadLock())
		synctest.Wait()
		require.False(t, later.IsOver())
		network.Refuse(false)
		require.NoError(t, later.Wait(t).Release(ctx))
		for _, l := range all {
			require.NoError(t, l.Context().Err())
			require.NoError(t, l.Release(ctx))
		}
		w.NothingLeft(t, path)
	})
}
