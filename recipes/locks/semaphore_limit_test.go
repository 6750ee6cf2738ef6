package locks_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// The error names the limit when a caller asks for more leases than the limit
// allows. This holds whether the caller waits or not, and whether leases are
// held or not.
func TestLimitThatIsTooLowIsNamed(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		s := locks.NewInterProcessSemaphore(c, "/s", locks.SharedLimit("/limit", 2))
		for held := range 2 {
			for _, try := range []bool{false, true} {
				acquire := s.AcquireN
				if try {
					acquire = s.TryAcquireN
				}
				_, err := acquire(recipetest.Within(t, 30*time.Second), 3)
				var refused *locks.NotAcquiredError
				require.ErrorAs(t, err, &refused, "held %d, try %v", held, try)
				require.ErrorIs(t, err, locks.ErrNotAcquired)
				require.Equal(t, !try, errors.Is(err, context.DeadlineExceeded))
				require.Equal(t, 3, refused.Leases)
				require.Equal(t, 2, refused.Limit)
				require.Equal(t, held > 0, refused.Own, "its own attempt is no holder")
				require.ErrorContains(t, err, "acquire /s: not acquired: 3 of the semaphore's leases, whose limit is 2")
			}
			_, err := s.Acquire(t.Context())
			require.NoError(t, err)
		}
		_, err := s.TryAcquire(t.Context())
		require.NotContains(t, err.Error(), "whose limit is", "the limit is not the reason")
	})
}

// A caller that has seen the leases is told how many it wanted, and how many
// were free. One that still waits for its turn has not seen them.
func TestRefusalAtASemaphoreSaysHowManyLeasesAreFree(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		s := locks.NewInterProcessSemaphore(c, "/s", locks.Limit(3))
		held := hold(t, t.Context(), s)
		_, err := s.Acquire(t.Context())
		require.NoError(t, err)
		waiting := func(acquire func(context.Context, int) (*locks.Lease, error)) {
			_, err := acquire(recipetest.Within(t, 30*time.Second), 2)
			var refused *locks.NotAcquiredError
			require.ErrorAs(t, err, &refused)
			require.Equal(t, 2, refused.Ahead)
			require.Equal(t, 2, refused.Leases)
			require.Equal(t, 3, refused.Limit)
			require.ErrorContains(t, err, "acquire /s: not acquired: 2 of 3 leases wanted, 1 free, 2 ahead, held by ")
		}
		waiting(s.AcquireN)
		waiting(s.TryAcquireN)
		first := make(chan error)
		go func() {
			_, err := s.AcquireN(recipetest.Within(t, time.Minute), 2)
			first <- err
		}()
		synctest.Wait()
		_, err = s.AcquireN(recipetest.Within(t, 30*time.Second), 2)
		var refused *locks.NotAcquiredError
		require.ErrorAs(t, err, &refused)
		require.Zero(t, refused.Leases, "it was not its turn")
		require.Zero(t, refused.Limit)
		require.ErrorIs(t, <-first, locks.ErrNotAcquired)
		require.NoError(t, held.Release(t.Context()))
	})
}

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
		w.WaitNodes(t, path+"/locks", 1)
		require.NoError(t, locks.SetSharedLimit(ctx, c, path+"-limit", 1))
		require.NoError(t, waiting.Wait(t).Release(ctx))
		w.WaitNodes(t, path+"/locks", 0)
		w.NothingLeft(t, path+"/leases")
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

// The request of a SetSharedLimit, or its reply, is lost. SetSharedLimit finds
// out what has become of it. It does not write over the limit of somebody else
// who was faster.
//
// Promise: A Set whose reply was lost does not overwrite another client's later write.
func TestLostSetSharedLimit(t *testing.T) {
	other := func(w *world) zktest.Action {
		return zktest.CallAfter(func(zktest.Request) { _ = w.Fake.Set("/limit", []byte{0, 0, 0, 9}) })
	}
	for name, test := range map[string]struct {
		happens func(w *world) zktest.Action
		unknown bool
		want    byte
	}{
		"request lost": {func(*world) zktest.Action { return zktest.DropRequest() }, false, 5},
		"reply lost":   {func(*world) zktest.Action { return zktest.DropReply() }, false, 5},
		"request lost, and another limit": {
			func(w *world) zktest.Action { return zktest.All(other(w), zktest.DropRequest()) }, true, 9,
		},
		"reply lost, and another limit": {
			func(w *world) zktest.Action { return zktest.All(other(w), zktest.DropReply()) }, true, 9,
		},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, _ := w.Connect(t)
				require.NoError(t, locks.SetSharedLimit(w.Patience(t), c, "/limit", 3))
				for _, op := range []zktest.Op{zktest.OpSetData, zktest.OpMulti} {
					w.Fake.Inject(zktest.Rule{Optional: true, Op: op, Session: c.SessionID(), Do: test.happens(w)})
				}
				err := locks.SetSharedLimit(w.Patience(t), c, "/limit", 5)
				require.Equal(t, test.unknown, errors.Is(err, framework.ErrOutcomeUnknown), "%v", err)
				require.Equal(t, test.unknown, err != nil)
				node, _ := w.Fake.Node("/limit")
				require.Equal(t, []byte{0, 0, 0, test.want}, node.Data)
			})
		})
	}
}
