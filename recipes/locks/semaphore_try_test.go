package locks_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
)

// A limit of zero pauses every caller, and there is no holder that could be
// ahead. A try fails all the same.
func TestTryAcquireAtALimitOfZero(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		s := locks.NewInterProcessSemaphore(c, path, locks.SharedLimit(path+"-limit", 0))
		for range 2 { // the second try finds nothing of the first
			_, err := s.TryAcquire(ctx)
			var refused *locks.NotAcquiredError
			require.ErrorAs(t, err, &refused)
			require.Zero(t, refused.Ahead)
		}
		waiting := take(ctx, s)
		w.WaitNodes(t, path+"/leases", 1)
		require.NoError(t, locks.SetSharedLimit(ctx, c, path+"-limit", 1))
		require.NoError(t, waiting.Wait(t).Release(ctx))
		w.WaitNodes(t, path+"/locks", 0)
		w.NothingLeft(t, path+"/leases")
	})
}

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

// Participants changes nothing. Without a shared limit, it reports by the
// limit that the semaphore would begin with.
func TestParticipantsDoNotCreateTheSharedLimit(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		lease, err := locks.NewInterProcessSemaphore(c, path, locks.Limit(2)).AcquireN(ctx, 2)
		require.NoError(t, err)
		list, err := locks.NewInterProcessSemaphore(c, path, locks.SharedLimit(path+"-limit", 1)).Participants(ctx)
		require.NoError(t, err)
		require.Len(t, list, 2)
		require.True(t, list[0].Holder)
		require.False(t, list[1].Holder)
		_, exists := w.Fake.Node(path + "-limit")
		require.False(t, exists)
		require.NoError(t, lease.Release(ctx))

		require.NoError(t, w.Fake.Create(path+"-limit", []byte("seven")))
		_, err = locks.NewInterProcessSemaphore(c, path, locks.SharedLimit(path+"-limit", 1)).Participants(ctx)
		require.ErrorIs(t, err, locks.ErrCorrupted)
	})
}

// A SharedCount of Java Curator may hold any number.
func TestParticipantsAtANegativeLimit(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		s := locks.NewInterProcessSemaphore(c, path, locks.SharedLimit(path+"-limit", 2))
		lease := hold(t, ctx, s)
		require.NoError(t, w.Fake.Set(path+"-limit", []byte{0xff, 0xff, 0xff, 0xff}))
		list, err := s.Participants(ctx)
		require.NoError(t, err)
		require.Len(t, list, 1)
		require.False(t, list[0].Holder)
		_, err = s.TryAcquire(ctx)
		require.ErrorIs(t, err, locks.ErrNotAcquired)
		require.NoError(t, lease.Release(ctx))
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
