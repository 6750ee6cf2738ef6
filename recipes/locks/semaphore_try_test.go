package locks_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// Leases that a try for several has taken already do not count as leases ahead
// of it.
func TestTryAcquireOfSeveralDoesNotNameItself(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		s := locks.NewInterProcessSemaphore(c, path, locks.SharedLimit(path+"-limit", 2))
		var refused *locks.NotAcquiredError
		_, err := s.TryAcquireN(ctx, 3)
		require.ErrorAs(t, err, &refused)
		require.Zero(t, refused.Ahead)
		require.Empty(t, refused.Holder)

		first := hold(t, ctx, s)
		_, err = s.TryAcquireN(ctx, 2)
		require.ErrorAs(t, err, &refused)
		require.Equal(t, 1, refused.Ahead)
		require.Contains(t, first.Path(), refused.Holder)
		require.NotEmpty(t, refused.Identity)
		require.NoError(t, first.Release(ctx))
	})
}

// A client's earlier leases do not block its next try.
func TestLeasesCanBeTriedForOneAfterTheOther(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		s := locks.NewInterProcessSemaphore(c, path, locks.Limit(3))
		for range 30 {
			var leases []*locks.Lease
			for range 3 {
				lease, err := s.TryAcquire(ctx)
				require.NoError(t, err)
				leases = append(leases, lease)
			}
			for _, l := range leases {
				require.NoError(t, l.Release(ctx))
			}
		}
	})
}

// The transaction of one of us has deleted its node at the gate, and the reply is
// on its way. Nobody is ahead of a try, and there is a lease for it.
func TestTryIsNotRefusedBehindAGateThatIsFree(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		c, _ := w.Connect(t)
		s := locks.NewInterProcessSemaphore(c, "/l", locks.Limit(3))
		require.NoError(t, locktest.Acquire(t, ctx, s).Release(ctx))
		w.Fake.Inject(zktest.Rule{Op: zktest.OpMulti, Session: c.SessionID(), Do: zktest.DelayReply(5 * time.Second)})
		first := locktest.AcquireLater(ctx, s)
		synctest.Wait()
		time.Sleep(time.Second)
		require.False(t, first.IsOver())
		require.Empty(t, w.Fake.Children("/l/locks"), "nobody is at the gate")
		second, err := s.TryAcquire(ctx)
		require.NoError(t, err)
		require.NoError(t, second.Release(ctx))
		require.NoError(t, first.Wait(t).Release(ctx))
	})
}
