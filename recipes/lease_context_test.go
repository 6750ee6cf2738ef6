package recipes_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes"
)

// underLease fails the test unless a context is under a lease, and under no lease further in.
func underLease(t *testing.T, want *recipes.Lease, ctx context.Context) {
	t.Helper()
	lease, ok := recipes.LeaseFromContext(ctx)
	require.True(t, ok)
	require.Same(t, want, lease)
}

// Whatever context was made of a lease leads to it: of several, to the innermost.
func TestLeaseOfAContextIsTheInnermost(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.connect(t)
		a, b := recipes.NewInterProcessMutex(c, "/a"), recipes.NewInterProcessMutex(c, "/b")
		outer := acquire(t, t.Context(), a)
		underLease(t, outer, outer.Context())
		underLease(t, outer, context.WithValue(outer.Context(), pending{}, 1))
		underLease(t, outer, context.WithoutCancel(outer.Context()))
		work, done := outer.Under(t.Context())
		defer done()
		underLease(t, outer, work)

		inner := acquire(t, work, b)
		underLease(t, inner, inner.Context())
		both, done := inner.Under(outer.Context())
		defer done()
		underLease(t, inner, both)
		back, done := outer.Under(inner.Context())
		defer done()
		underLease(t, outer, back)

		again := acquire(t, both, a)
		require.NotSame(t, outer, again)
		require.Equal(t, outer.FencingToken(), again.FencingToken())
		underLease(t, again, again.Context())
		for _, lease := range []*recipes.Lease{again, inner, outer} {
			require.NoError(t, lease.Release(t.Context()))
		}
		underLease(t, inner, both)
	})
}

// Do has no other way to its lease.
func TestLeaseOfDoIsInItsContext(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.connect(t)
		m := recipes.NewInterProcessMutex(c, "/l")
		var of *recipes.Lease
		require.NoError(t, m.Do(t.Context(), func(ctx context.Context) error {
			of, _ = recipes.LeaseFromContext(ctx)
			require.NoError(t, of.Context().Err())
			require.Equal(t, "/l/"+w.fake.Children("/l")[0], of.Path())
			return m.Do(ctx, func(ctx context.Context) error {
				again, _ := recipes.LeaseFromContext(ctx)
				require.NotSame(t, of, again)
				require.Equal(t, of.FencingToken(), again.FencingToken())
				return nil
			})
		}))
		require.ErrorIs(t, context.Cause(of.Context()), recipes.ErrReleased)
	})
}

func TestContextUnderNoLease(t *testing.T) {
	lease, ok := recipes.LeaseFromContext(t.Context())
	require.False(t, ok)
	require.Nil(t, lease)
}
