package locks_test

import (
	"context"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

func TestInvalidPathsAreErrorsOfAcquire(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		w.Fake.ClearRequests()
		for _, path := range []string{"", "relative", "/end/", "//", "/a//b", "/a/../b", "/a/./b", "/nul\x00", "/\xff"} {
			rw := locks.NewInterProcessReadWriteLock(c, path)
			for _, l := range []locks.Locker{
				locks.NewInterProcessMutex(c, path), rw.ReadLock(), rw.WriteLock(),
				locks.NewInterProcessSemaphore(c, path, locks.Limit(1)),
			} {
				for _, acquire := range []func(context.Context) (*locks.Lease, error){l.Acquire, l.TryAcquire} {
					lease, err := acquire(t.Context())
					require.Nil(t, lease)
					require.ErrorIs(t, err, zk.ErrInvalidPath, "%T %q", l, path)
					var opErr *framework.OpError
					require.ErrorAs(t, err, &opErr)
					require.Equal(t, path, opErr.Path)
				}
				_, err := l.(interface {
					Participants(context.Context) ([]locks.Participant, error)
				}).Participants(t.Context())
				require.ErrorIs(t, err, zk.ErrInvalidPath, "%T %q", l, path)
			}
		}
		require.Empty(t, w.Fake.Requests())
	})
}

func TestRootMayBeALock(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		m := locks.NewInterProcessMutex(c, "/")
		lease := locktest.Acquire(t, t.Context(), m)
		_, err := m.TryAcquire(t.Context())
		require.ErrorIs(t, err, locks.ErrNotAcquired)
		require.NoError(t, lease.Release(t.Context()))
	})
}

func TestAcquireOnAnEndedContextSendsNothing(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		w.Fake.ClearRequests()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		m := locks.NewInterProcessMutex(c, recipetest.Path(t))
		_, err := m.Acquire(ctx)
		require.ErrorIs(t, err, context.Canceled)
		_, err = m.TryAcquire(ctx)
		require.ErrorIs(t, err, context.Canceled)
		require.Empty(t, w.Fake.Requests())
	})
}

func TestAcquireOnAClosedClient(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		c.Close()
		m := locks.NewInterProcessMutex(c, recipetest.Path(t))
		_, err := m.Acquire(w.Patience(t))
		require.ErrorIs(t, err, framework.ErrClosed)
		_, err = m.TryAcquire(w.Patience(t))
		require.ErrorIs(t, err, framework.ErrClosed)
	})
}

// Curator tests this in TestLockInternals#testNodeDeletedCleanlyWithFaults and
// #testAttemptLockFailedException (CURATOR-41).
func TestErrorOfAStepIsReturnedAndTheNodeIsDeleted(t *testing.T) {
	for _, op := range []zktest.Op{zktest.OpCreate, zktest.OpGetChildren, zktest.OpGetData} {
		t.Run(op.String(), func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx, path := w.Patience(t), "/l"
				c, _ := w.Connect(t)
				m := locks.NewInterProcessMutex(c, path)
				holder := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(w.Observer, path))

				for _, path := range []string{"/l*", "/l/*"} {
					// The client asks again for a listing that failed along
					// with the creation.
					w.Fake.Inject(zktest.Rule{Optional: true, Op: op, Path: path, Times: 2, Do: zktest.Fail(zktest.ErrNoAuth)})
				}
				_, err := m.Acquire(ctx)
				require.ErrorIs(t, err, zk.ErrNoAuth)
				require.Len(t, w.Fake.Children(path), 1)
				require.NoError(t, holder.Release(ctx))
			})
		})
	}
}
