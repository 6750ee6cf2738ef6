package locks_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/recipes/locks"
)

// countsLookups is a context that counts how often it is asked for a value.
type countsLookups struct {
	context.Context
	n *atomic.Int64
}

func (c countsLookups) Value(key any) any {
	c.n.Add(1)
	return c.Context.Value(key)
}

// Each lock of several is acquired under the lease of those before it. A look for a
// value that is not there does not take twice the time with each lock.
func TestMultiLockOfManyLocksIsQuick(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		paths := pathsBelow("/l", 16)
		for _, l := range []locks.Locker{
			locks.NewAtomicMultiLock(c, paths),
			locks.NewInterProcessMultiLock(locks.SortedMutexes(c, paths)...),
		} {
			var lookups atomic.Int64
			ctx := countsLookups{w.Patience(t), &lookups}
			lease := locktest.Acquire(t, ctx, l)
			require.Less(t, lookups.Load(), int64(10_000))
			lookups.Store(0)
			lease.Context().Value("none")
			require.Less(t, lookups.Load(), int64(100))
			require.NoError(t, lease.Release(t.Context()))
		}
	})
}
