package locks_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

func cachedReads(c *framework.Client, path string, opts ...locks.ReadWriteOption) *locks.InterProcessReadWriteLock {
	return locks.NewInterProcessReadWriteLock(c, path, append(opts, idleFor(1000, cachedFor))...)
}

// Promise: A shared read lock lasts until its last reader releases it.
func TestReadersAtOnceCostTheRequestsOfOne(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		require.NoError(t, w.Fake.Create(path, nil))
		c, _ := w.Connect(t)
		w.Fake.ClearRequests()
		pending := make([]*locktest.Pending, 100)
		for i := range pending {
			pending[i] = locktest.AcquireLater(ctx, cachedReads(c, path).ReadLock())
		}
		leases := make([]*locks.Lease, len(pending))
		for i, p := range pending {
			leases[i] = p.Wait(t)
		}
		require.Equal(t, []zktest.Op{zktest.OpCreate, zkinside.OpGetChildren2}, w.Requests())
		node := leases[0].Path()
		for i, l := range leases {
			require.Equal(t, node, l.Path())
			require.NoError(t, l.Release(ctx))
			require.ErrorIs(t, l.Release(ctx), locks.ErrReleased)
			require.True(t, w.exists(node))
			for _, other := range leases[i+1:] {
				require.NoError(t, other.Context().Err())
			}
		}
		require.Len(t, w.Requests(), 3, "the last release has set the watch")
		w.NothingLeft(t, path)
	})
}
