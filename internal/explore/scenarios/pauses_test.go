package scenarios

import (
	"context"
	"testing"
	"time"

	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/recipes/locks"
)

// pin returns a context of a session, which ends with another context, and not with
// that session.
func pin(ctx, session context.Context) context.Context {
	both, end := context.WithCancelCause(context.WithoutCancel(session))
	context.AfterFunc(ctx, func() { end(context.Cause(ctx)) })
	return both
}

// Somebody waits for a lock within a session, which is lost. That is the end of the
// wait, as there is no other session for it.
func TestMutexWithinASession(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		w.Node("/lock", "")
		var waits *explore.Actor
		w.Actor("A", func(a *explore.Actor) {
			lease, _ := take(w, a, "acquire", locks.NewInterProcessMutex(a.Client(), "/lock").Acquire)
			if lease == nil {
				return
			}
			pass(lease.Context(), 2*time.Second)
			loss(waits)
			pass(lease.Context(), 20*time.Second)
			give(w, a, lease)
		})
		w.Actor("B", func(a *explore.Actor) {
			waits = a
			time.Sleep(time.Second)
			lease, _ := take(w, a, "acquire", func(ctx context.Context) (lease *locks.Lease, err error) {
				err = a.Client().InSession(ctx, func(session context.Context) (err error) {
					lease, err = locks.NewInterProcessMutex(a.Client(), "/lock").Acquire(pin(ctx, session))
					return err
				})
				return lease, err
			})
			if lease != nil {
				give(w, a, lease)
			}
		})
	}, quick())
}
