package locks_test

import (
	"context"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/recipes/locks"
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
