package recipes_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes"
	"github.com/gocurator/curator/testing/zktest"
)

func TestInvalidPathsAreErrorsOfAcquire(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.connect(t)
		w.fake.ClearRequests()
		for _, path := range []string{"", "relative", "/end/", "//", "/a//b", "/a/../b", "/a/./b", "/nul\x00", "/\xff"} {
			m := recipes.NewInterProcessMutex(c, path)
			for _, acquire := range []func(context.Context) (*recipes.Lease, error){m.Acquire, m.TryAcquire} {
				lease, err := acquire(t.Context())
				require.Nil(t, lease)
				require.ErrorIs(t, err, zk.ErrInvalidPath, "%q", path)
				var opErr *framework.OpError
				require.ErrorAs(t, err, &opErr)
				require.Equal(t, path, opErr.Path)
			}
		}
		require.Empty(t, w.fake.Requests())
	})
}

func TestRootMayBeALock(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.connect(t)
		m := recipes.NewInterProcessMutex(c, "/")
		lease := acquire(t, t.Context(), m)
		_, err := m.TryAcquire(t.Context())
		require.ErrorIs(t, err, recipes.ErrNotAcquired)
		require.NoError(t, lease.Release(t.Context()))
	})
}

func TestReleaseTwice(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		m := recipes.NewInterProcessMutex(c, path)
		first := acquire(t, ctx, m)
		require.NoError(t, first.Release(ctx))
		second := acquire(t, ctx, m)
		require.ErrorIs(t, first.Release(ctx), recipes.ErrReleased)
		require.NoError(t, second.Context().Err(), "another's lease is not touched")
		w.waitNodes(t, path, 1)
		require.NoError(t, second.Release(ctx))
	})
}

func TestReleaseFromManyGoroutinesSucceedsOnce(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		lease := acquire(t, ctx, recipes.NewInterProcessMutex(c, path))
		results := make(chan error)
		for range 10 {
			go func() { results <- lease.Release(ctx) }()
		}
		succeeded := 0
		for range 10 {
			if err := <-results; err == nil {
				succeeded++
			} else {
				require.ErrorIs(t, err, recipes.ErrReleased)
			}
		}
		require.Equal(t, 1, succeeded)
		w.nothingLeft(t, path)
	})
}

func TestReleaseOnAnEndedContextStillFreesTheLock(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		path := path(t)
		c, _ := w.connect(t)
		ctx, cancel := context.WithCancel(w.patience(t))
		lease := acquire(t, ctx, recipes.NewInterProcessMutex(c, path))
		cancel()
		require.NoError(t, lease.Release(ctx))
		require.Error(t, lease.Context().Err())
		w.nothingLeft(t, path)
	})
}

func TestAcquireOnAnEndedContextSendsNothing(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.connect(t)
		w.fake.ClearRequests()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		m := recipes.NewInterProcessMutex(c, path(t))
		_, err := m.Acquire(ctx)
		require.ErrorIs(t, err, context.Canceled)
		_, err = m.TryAcquire(ctx)
		require.ErrorIs(t, err, context.Canceled)
		require.Empty(t, w.fake.Requests())
	})
}

func TestAcquireOnAClosedClient(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		c, _ := w.connect(t)
		c.Close()
		m := recipes.NewInterProcessMutex(c, path(t))
		_, err := m.Acquire(w.patience(t))
		require.ErrorIs(t, err, framework.ErrClosed)
		_, err = m.TryAcquire(w.patience(t))
		require.ErrorIs(t, err, framework.ErrClosed)
	})
}

func TestUnreachableServer(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		w.fake.RefuseConnections(true)
		c, err := framework.New(w.addr, framework.WithDialer(w.dial), framework.WithConnectionTimeout(5*time.Second))
		require.NoError(t, err)
		defer c.Close()
		m := recipes.NewInterProcessMutex(c, path(t))

		start := time.Now()
		_, err = m.TryAcquire(t.Context())
		require.ErrorIs(t, err, framework.ErrNotConnected)
		require.Equal(t, 5*time.Second, time.Since(start), "without a deadline, the connection timeout counts")

		start = time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err = m.Acquire(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, time.Minute, time.Since(start), "an acquire sits the outage out until its own deadline")
	})
}

// Curator: TestLockInternals#testNodeDeletedCleanlyWithFaults, #testAttemptLockFailedException (CURATOR-41).
func TestErrorOfAStepIsReturnedAndTheNodeIsDeleted(t *testing.T) {
	for _, op := range []zktest.Op{zktest.OpCreate, zktest.OpGetChildren, zktest.OpGetData} {
		t.Run(op.String(), func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx, path := w.patience(t), "/l"
				c, _ := w.connect(t)
				m := recipes.NewInterProcessMutex(c, path)
				holder := acquire(t, ctx, m)

				for _, path := range []string{"/l*", "/l/*"} {
					w.fake.Inject(zktest.Rule{Op: op, Path: path, Times: 2, Do: zktest.Fail(zktest.ErrNoAuth)}) // what comes with the creation is asked for again
				}
				_, err := m.Acquire(ctx)
				require.ErrorIs(t, err, zk.ErrNoAuth)
				require.Len(t, w.fake.Children(path), 1)
				require.NoError(t, holder.Release(ctx))
			})
		})
	}
}
