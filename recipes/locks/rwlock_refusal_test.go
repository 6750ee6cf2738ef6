package locks_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// Readers have the lock, and the server is slow. The context of another reader
// ends before that has seen the queue: nobody has kept it out.
func TestReaderIsNotToldThatReadersKeepItOut(t *testing.T) {
	for name, slow := range map[string]zktest.Op{"create": zktest.OpCreate, "look": zkinside.OpGetChildren2} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx, path := w.Patience(t), recipetest.Path(t)
				c, _ := w.Connect(t)
				first := hold(t, ctx, readLock(c, path))
				time.Sleep(2 * joinTime)
				if slow == zktest.OpCreate { // nobody joins a node that is asked for
					asked := first.Revoked()
					require.NoError(t, locks.Revoke(ctx, w.Observer, first.Path()))
					<-asked
				}
				w.Fake.Inject(zktest.Rule{Optional: true, Op: slow, Times: -1, Do: zktest.DelayRequest(time.Minute)})
				for _, p := range takeAll(recipetest.Within(t, time.Second), 2, readLock(c, path)) {
					<-p.Done
					require.ErrorIs(t, p.Err, context.DeadlineExceeded)
					require.NotErrorIs(t, p.Err, locks.ErrNotAcquired)
				}
				require.NoError(t, first.Release(ctx))
			})
		})
	}
}
