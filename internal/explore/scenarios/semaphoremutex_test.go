package scenarios

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/recipes/locks"
)

// A semaphore mutex has one lease. Its holder cannot take it again.
func semaphoreMutex(contenders int) explore.Scenario {
	return func(w *explore.World) {
		for _, path := range []string{"/s", "/s/locks", "/s/leases"} {
			w.Node(path, "")
		}
		inside := w.Section("the lock", 1)
		for _, name := range names(contenders) {
			w.Actor(name, func(a *explore.Actor) {
				lock := locks.NewInterProcessSemaphoreMutex(a.Client(), "/s")
				lease, _ := take(w, a, "acquire", lock.Acquire)
				if lease == nil {
					return
				}
				leave := inside.Enter(a, lease.Context(), lease.FencingToken())
				again, err := try(w, a, "try again", func(ctx context.Context) (*locks.Lease, error) {
					under, done := lease.WithContext(ctx)
					defer done()
					return lock.TryAcquire(under)
				})
				if again != nil && lease.Context().Err() == nil {
					w.Fail("%s has the lock twice", a.Name())
				}
				if again != nil {
					give(w, a, again)
				} else if lease.Context().Err() == nil && !errors.Is(err, locks.ErrNotAcquired) && !errors.Is(err, context.Canceled) {
					w.Fail("%s is refused with %v", a.Name(), err)
				}
				pass(lease.Context(), 3*time.Second)
				checkLoss(w, a, lease)
				leave()
				give(w, a, lease)
			})
		}
	}
}

func TestSemaphoreMutexOfTwo(t *testing.T) { explore.Search(t, semaphoreMutex(2), quick()) }

func TestSemaphoreMutexOfThree(t *testing.T) { explore.Search(t, semaphoreMutex(3), quick()) }
