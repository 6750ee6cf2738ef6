package scenarios

import (
	"context"
	"testing"

	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/recipes/locks"
)

func mutex(contenders int) explore.Scenario {
	return func(w *explore.World) {
		w.Node("/lock", "")
		inside := w.Section("the lock", 1)
		for _, name := range names(contenders) {
			w.Actor(name, func(a *explore.Actor) {
				lock := locks.NewInterProcessMutex(a.Client(), "/lock")
				var lease *locks.Lease
				err := a.Call("acquire", func(ctx context.Context) (err error) {
					lease, err = lock.Acquire(ctx)
					return err
				})
				if err != nil {
					return
				}
				leave := inside.Enter(a, lease.Context(), lease.FencingToken())
				a.Pause("works")
				if lease.Context().Err() != nil {
					leave()
				}
				_ = a.Call("release", lease.Release) // until its context ends, nobody else may have the lock
			})
		}
	}
}

func TestMutexOfTwo(t *testing.T) { explore.Search(t, mutex(2), quick()) }

func TestMutexOfThree(t *testing.T) { explore.Search(t, mutex(3), quick()) }

// The servers have two numbers left, and give the last one again and again.
func TestMutexAtTheEndOfItsNumbers(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		mutex(4)(w)
		w.Sequence("/lock", 1<<31-2)
	}, quick())
}

// With several servers, an answer may be older than another one.
func TestMutexInAnEnsemble(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		w.Ensemble(3)
		mutex(2)(w)
	}, quick())
}
