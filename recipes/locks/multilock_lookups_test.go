package locks_test

import (
	"context"
	"fmt"
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
// value that is not there asks the caller's context a few times, however many
// locks there are.
func TestMultiLockOfManyLocksIsQuick(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		paths := pathsBelow("/l", 24)
		for _, l := range []locks.Locker{
			locks.NewInterProcessMultiLock(locks.SortedMutexes(c, paths)...),
		} {
			var lookups atomic.Int64
			ctx := countsLookups{w.Patience(t), &lookups}
			lease := locktest.Acquire(t, ctx, l)
			require.Less(t, lookups.Load(), int64(24*200))
			lookups.Store(0)
			lease.Context().Value("none")
			require.Less(t, lookups.Load(), int64(5))
			require.NoError(t, lease.Release(t.Context()))
		}
	})
}

// pathsBelow returns the paths of n children of a node.
func pathsBelow(parent string, n int) (paths []string) {
	for i := range n {
		paths = append(paths, fmt.Sprintf("%s/%c", parent, 'a'+rune(i)))
	}
	return paths
}
