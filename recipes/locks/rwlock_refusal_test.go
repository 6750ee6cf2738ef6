package locks_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// Readers have the lock, and the server is slow. The context of another reader
// ends before that has seen the queue: nobody has kept it out.
func TestReaderIsNotToldThatReadersKeepItOut(t *testing.T) {
	for name, slow := range map[string]zktest.Op{"create": zktest.OpCreate, "look": zktest.OpGetChildren2} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx, path := w.Patience(t), recipetest.Path(t)
				c, _ := w.Connect(t)
				first, second := hold(t, ctx, readLock(c, path)), hold(t, ctx, readLock(c, path))
				w.Fake.Inject(zktest.Rule{Op: slow, Times: -1, Do: zktest.DelayRequest(time.Minute)})
				_, err := readLock(c, path).Acquire(recipetest.Within(t, time.Second))
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.NotErrorIs(t, err, locks.ErrNotAcquired)
				require.NoError(t, first.Release(ctx))
				require.NoError(t, second.Release(ctx))
			})
		})
	}
}
