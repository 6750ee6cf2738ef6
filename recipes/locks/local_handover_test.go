package locks_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
)

func TestLocalHandOverCostsNoRequest(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		m := locks.NewInterProcessMutex(c, path, handingOver(100, time.Hour))
		queue := queueUp(ctx, m, 50)
		w.Fake.ClearRequests()
		first := queue[0].Wait(t)
		token := first.FencingToken()
		require.NoError(t, first.Release(ctx))
		for i, p := range queue[1:] {
			lease := p.Wait(t) // leases come in the order of arrival
			require.Equal(t, token, lease.FencingToken())
			require.NoError(t, lease.Context().Err())
			if i < len(queue)-2 {
				require.NoError(t, lease.Release(ctx))
				require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrReleased)
				require.ErrorIs(t, lease.Release(ctx), locks.ErrReleased)
				continue
			}
			require.Empty(t, w.Requests())
			require.NoError(t, lease.Release(ctx))
		}
		w.NothingLeft(t, path)
	})
}
