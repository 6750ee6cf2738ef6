package locks_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/internal/recipetest"
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
		require.ErrorContains(t, err, "acquire /s: not acquired: 2 ahead", "the limit is not the reason")
	})
}

// The error names the path that cannot be used.
func TestBadPathOfASharedLimitIsNamed(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		_, err := locks.NewInterProcessSemaphore(c, "/s", locks.SharedLimit("limit/", 2)).Acquire(t.Context())
		require.ErrorIs(t, err, zk.ErrInvalidPath)
		require.ErrorContains(t, err, `"limit/"`)
		_, err = locks.NewInterProcessSemaphore(c, "/s", locks.SharedLimit("/a\x00b", 2)).Acquire(t.Context())
		require.ErrorContains(t, err, `"/a\x00b"`)
	})
}

// The error of an acquire keeps the limit that the acquire has read, at
// whatever step its context ends.
func TestLimitIsInTheErrorWhateverWasLast(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		s := locks.NewInterProcessSemaphore(c, "/s", locks.SharedLimit("/limit", 1))
		w.Fake.Inject(zktest.Rule{
			Op: zktest.OpCreate, Path: "/s/leases/*", After: 2, Do: zktest.DelayReply(10 * time.Second),
		})
		_, err := s.AcquireN(recipetest.Within(t, 3*time.Second), 2)
		var refused *locks.NotAcquiredError
		require.ErrorAs(t, err, &refused)
		require.Equal(t, 2, refused.Leases)
		require.Equal(t, 1, refused.Limit)
	})
}
