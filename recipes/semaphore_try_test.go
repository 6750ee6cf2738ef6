package recipes_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes"
)

// A limit of zero, which pauses everybody, has no holder who could be ahead. Trying fails all the same.
func TestTryAcquireAtALimitOfZero(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		s := recipes.NewInterProcessSemaphore(c, path, 0, recipes.WithSharedLimit(path+"-limit"))
		for range 2 { // the second finds nothing of the first
			_, err := s.TryAcquire(ctx)
			var refused *recipes.NotAcquiredError
			require.ErrorAs(t, err, &refused)
			require.Zero(t, refused.Ahead)
		}
		waiting := take(ctx, s)
		w.waitNodes(t, path+"/leases", 1)
		require.NoError(t, recipes.SetSharedLimit(ctx, c, path+"-limit", 1))
		require.NoError(t, waiting.wait(t).Release(ctx))
		w.waitNodes(t, path+"/locks", 0)
		w.nothingLeft(t, path+"/leases")
	})
}

// What one has taken already of several is nobody ahead.
func TestTryAcquireOfSeveralDoesNotNameItself(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		s := recipes.NewInterProcessSemaphore(c, path, 2, recipes.WithSharedLimit(path+"-limit"))
		var refused *recipes.NotAcquiredError
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

// To look at a semaphore changes nothing: without a shared limit, there is the one that it would begin with.
func TestParticipantsDoNotCreateTheSharedLimit(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		lease, err := recipes.NewInterProcessSemaphore(c, path, 2).AcquireN(ctx, 2)
		require.NoError(t, err)
		list, err := recipes.NewInterProcessSemaphore(c, path, 1, recipes.WithSharedLimit(path+"-limit")).Participants(ctx)
		require.NoError(t, err)
		require.Len(t, list, 2)
		require.True(t, list[0].Holder)
		require.False(t, list[1].Holder)
		_, exists := w.fake.Node(path + "-limit")
		require.False(t, exists)
		require.NoError(t, lease.Release(ctx))

		require.NoError(t, w.fake.Create(path+"-limit", []byte("seven")))
		_, err = recipes.NewInterProcessSemaphore(c, path, 1, recipes.WithSharedLimit(path+"-limit")).Participants(ctx)
		require.ErrorIs(t, err, recipes.ErrCorrupted)
	})
}

// Java's SharedCount may hold any number.
func TestParticipantsAtANegativeLimit(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		s := recipes.NewInterProcessSemaphore(c, path, 2, recipes.WithSharedLimit(path+"-limit"))
		lease := hold(t, ctx, s)
		require.NoError(t, w.fake.Set(path+"-limit", []byte{0xff, 0xff, 0xff, 0xff}))
		list, err := s.Participants(ctx)
		require.NoError(t, err)
		require.Len(t, list, 1)
		require.False(t, list[0].Holder)
		_, err = s.TryAcquire(ctx)
		require.ErrorIs(t, err, recipes.ErrNotAcquired)
		require.NoError(t, lease.Release(ctx))
	})
}

// Whoever has taken a lease is no obstacle to his own next one.
func TestLeasesCanBeTriedForOneAfterTheOther(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		s := recipes.NewInterProcessSemaphore(c, path, 3)
		for range 30 {
			var leases []*recipes.Lease
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
