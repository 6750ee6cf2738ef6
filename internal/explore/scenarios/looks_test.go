package scenarios

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/retry"
)

// often is how soon one tries again that does so several times a second. Its first
// try queues, and the others look, of which those from the third on have a watch.
const often = 150 * time.Millisecond

// B tries again and again, at a server that lags or not, while A has the lock for a
// time.
func TestTryAgainAndAgain(t *testing.T) {
	for name, works := range map[string]time.Duration{
		"until the second look": 200 * time.Millisecond, "until the third": 350 * time.Millisecond,
		"until the fourth": 500 * time.Millisecond, "for long": 3 * time.Second,
	} {
		s := retriedEvery(often, works, retriedMutex, "/lock")
		t.Run(name, func(t *testing.T) { explore.Search(t, s, brief()) })
		t.Run(name+", behind", func(t *testing.T) {
			explore.Search(t, inEnsemble(s, 0, time.Second, time.Second), brief())
		})
	}
}

// A try without a connection waits for one once, however soon it comes behind others.
func TestTryWithoutAConnection(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		const wait = time.Second
		w.Node("/lock", "")
		w.ClientOptions(framework.WithConnectionTimeout(wait), framework.WithRetry(retry.None()))
		var me *explore.Actor     // B, when it tries
		var connected atomic.Bool // it has had a connection since the try began
		w.Always(func(explore.Tree) error {
			if me != nil && me.Client().State().IsConnected() {
				connected.Store(true)
			}
			return nil
		})
		w.Actor("A", func(a *explore.Actor) {
			if lease, _ := take(w, a, "acquire", locks.NewInterProcessMutex(a.Client(), "/lock").Acquire); lease != nil {
				pass(lease.Context(), 4*time.Second)
				give(w, a, lease)
			}
		})
		w.Actor("B", func(a *explore.Actor) {
			lock := locks.NewInterProcessMutex(a.Client(), "/lock")
			for i := range 6 {
				time.Sleep(often)
				if i == 4 {
					givenUp(a)
					time.Sleep(time.Millisecond)
				}
				me = a
				begun := time.Now()
				connected.Store(a.Client().State().IsConnected())
				if lease, _ := try(w, a, "try", lock.TryAcquire); lease != nil {
					give(w, a, lease)
					return
				}
				if took := time.Since(begun); !connected.Load() && took > wait*3/2 {
					w.Fail("%s has waited for %v for a connection", a.Name(), took)
				}
			}
		})
	}, brief())
}
