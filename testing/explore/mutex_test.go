package explore_test

import (
	"context"
	"testing"

	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/explore"
)

func mutex(contenders int) explore.Scenario {
	return func(w *explore.World) {
		w.Node("/lock", "")
		inside := w.Section("the lock", 1)
		for i := range contenders {
			w.Actor(string(rune('A'+i)), func(a *explore.Actor) {
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
				leave()
				_ = a.Call("release", lease.Release)
			})
		}
	}
}

func TestMutex(t *testing.T) {
	explore.Search(t, mutex(2), explore.Limits{Deviations: 2, Schedules: 2000})
}
