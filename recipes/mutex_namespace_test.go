package recipes_test

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes"
)

// Two views of the same node are one lock: a caller that holds it through one of them does not wait for itself.
func TestLockIsTheSameThroughEveryNamespace(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		view, err := c.Namespace(path)
		require.NoError(t, err)
		lease := acquire(t, ctx, recipes.NewInterProcessMutex(view, "/lock"))
		again, err := recipes.NewInterProcessMutex(c, path+"/lock").TryAcquire(lease.Context())
		require.NoError(t, err)
		require.Equal(t, lease.FencingToken(), again.FencingToken())
		require.Len(t, w.waitNodes(t, path+"/lock", 1), 1)

		_, err = recipes.NewInterProcessMutex(c, path+"/lock").TryAcquire(ctx)
		require.ErrorIs(t, err, recipes.ErrNotAcquired, "any other caller")
		other := acquire(t, lease.Context(), recipes.NewInterProcessMutex(c, path+"-lock"))
		require.NotEqual(t, lease.FencingToken(), other.FencingToken(), "the same path in another view is another lock")
		same := acquire(t, lease.Context(), recipes.NewInterProcessMutex(view, path+"/lock"))
		require.NotEqual(t, lease.FencingToken(), same.FencingToken(), "and so is the same text in a namespace")

		require.NoError(t, same.Release(ctx))
		require.NoError(t, other.Release(ctx))
		require.NoError(t, again.Release(ctx))
		require.NoError(t, lease.Release(ctx))
		w.nothingLeft(t, path+"/lock")
	})
}

// As the spans of package tracing have it.
func TestLogHasTheServersNameForTheLocksPath(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		var log strings.Builder
		c, _ := w.connect(t, framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		shop, err := c.Namespace("/shop")
		require.NoError(t, err)
		lease, err := recipes.NewInterProcessMutex(shop, "/m").Acquire(t.Context())
		require.NoError(t, err)
		w.fake.ExpireSession(c.SessionID())
		<-lease.Context().Done()
		c.Close() // nobody writes any more
		synctest.Wait()
		require.Contains(t, log.String(), "curator.lock.path=/shop/m")
	})
}
