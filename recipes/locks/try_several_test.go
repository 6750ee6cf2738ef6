package locks_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// severalKinds has a lock of each kind.
func severalKinds(c *framework.Client) []locks.Locker {
	return []locks.Locker{
		locks.NewInterProcessMutex(c, "/l/a"),
		writeLock(c, "/l/b"),
		readLock(c, "/l/c"),
		locks.NewInterProcessSemaphore(c, "/l/d", locks.Limit(1)),
		locks.NewInterProcessMultiLock(locks.NewInterProcessMutex(c, "/l/e"), locks.NewInterProcessMutex(c, "/l/f")),
	}
}

// rivalsOf are locks that keep one of severalKinds from others.
func rivalsOf(c *framework.Client) []locks.Locker {
	rivals := severalKinds(c)
	rivals[2] = writeLock(c, "/l/c")
	return rivals
}

// A try of several locks under the lease of one re-enters that one, and goes on
// with a write lock as a reader, also if it was refused before.
func TestTryOfSeveralLocksUnderALeaseOfOne(t *testing.T) {
	for i, name := range []string{"mutex", "writer", "reader"} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, _ := w.Connect(t)
				several := locks.NewInterProcessMultiLock(severalKinds(c)...)
				other := tryToHold(t, rivalsOf(w.Observer)[i])
				isRefused(t, several)
				require.NoError(t, other.Release(t.Context()))

				held := tryToHold(t, rivalsOf(c)[i])
				lease, err := several.TryAcquire(held.Context())
				require.NoError(t, err)
				require.NoError(t, lease.Release(t.Context()))
				require.NoError(t, held.Release(t.Context()))
			})
		})
	}
}

// patient waits a while when it is tried.
type patient struct{ *locks.InterProcessMutex }

func (p patient) TryAcquire(ctx context.Context) (*locks.Lease, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Hour)
	defer cancel()
	return p.Acquire(ctx)
}

// A Locker from elsewhere is tried by its own method, although it has a lock of
// this package inside.
func TestTryOfSeveralLocksTriesALockerFromElsewhere(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		several := locks.NewInterProcessMultiLock(patient{locks.NewInterProcessMutex(c, "/l")})
		for range 2 {
			held := tryToHold(t, mutexAt(w.Observer))
			time.AfterFunc(time.Minute, func() { held.Release(context.Background()) })
			require.NoError(t, tryToHold(t, several).Release(t.Context()))
		}
		held := tryToHold(t, mutexAt(c))
		time.AfterFunc(time.Minute, func() { held.Release(context.Background()) })
		require.NoError(t, tryToHold(t, several).Release(t.Context()))
	})
}
