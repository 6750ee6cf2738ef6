package locks_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/recipes/locks"
)

// underLease fails the test unless want is the innermost lease of a context.
func underLease(t *testing.T, want *locks.Lease, ctx context.Context) {
	t.Helper()
	lease, ok := locks.LeaseFromContext(ctx)
	require.True(t, ok)
	require.Same(t, want, lease)
}

// Every context that was made of a lease leads to that lease. A context that
// was made of several leases leads to the innermost one.
func TestLeaseOfAContextIsTheInnermost(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		a, b := locks.NewInterProcessMutex(c, "/a"), locks.NewInterProcessMutex(c, "/b")
		outer := locktest.Acquire(t, t.Context(), a)
		underLease(t, outer, outer.Context())
		underLease(t, outer, context.WithValue(outer.Context(), anyKey{}, 1))
		underLease(t, outer, context.WithoutCancel(outer.Context()))
		work, done := outer.WithContext(t.Context())
		defer done()
		underLease(t, outer, work)

		inner := locktest.Acquire(t, work, b)
		underLease(t, inner, inner.Context())
		both, done := inner.WithContext(outer.Context())
		defer done()
		underLease(t, inner, both)
		back, done := outer.WithContext(inner.Context())
		defer done()
		underLease(t, outer, back)

		again := locktest.Acquire(t, both, a)
		require.NotSame(t, outer, again)
		require.Equal(t, outer.FencingToken(), again.FencingToken())
		underLease(t, again, again.Context())
		for _, lease := range []*locks.Lease{again, inner, outer} {
			require.NoError(t, lease.Release(t.Context()))
		}
		underLease(t, inner, both)
	})
}

func TestContextUnderNoLease(t *testing.T) {
	lease, ok := locks.LeaseFromContext(t.Context())
	require.False(t, ok)
	require.Nil(t, lease)
}
