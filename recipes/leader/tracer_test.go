package leader_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// A tracer is told of a hand-over as of every other request to give the
// leadership up. It is told once of several requests.
func TestTracerIsToldOfAHandOver(t *testing.T) {
	for _, revoked := range []bool{false, true} {
		inVirtualTime(t, func(t *testing.T, w *world) {
			tracer := &locktest.Spy{}
			first, second, lease, _ := w.leaderAndNext(t, "/l", framework.WithHooks(tracer))
			if revoked {
				require.NoError(t, locks.Revoke(t.Context(), w.Observer, lease.Path()))
			}
			go releaseWhenAsked(lease)
			if err := first.HandOver(t.Context()); err != nil {
				require.ErrorIs(t, err, leader.ErrNotLeader, "it has stepped down already")
			}
			w.await(t, second)
			require.EqualValues(t, 1, tracer.Revoked.Load())
			w.closeAll(t, "/l", first, second)
		})
	}
}

// hanging is a hook that hangs at each operation of one name, for an hour.
type hanging string

func (h hanging) StartOperation(ctx context.Context, op clienttrace.Operation) context.Context {
	if op.Name == string(h) {
		time.Sleep(time.Hour)
	}
	return ctx
}

// A latch makes its requests in the background. Close of the client does not wait
// for a hook that hangs there.
func TestCloseDoesNotWaitForTheHooksOfALatch(t *testing.T) {
	for _, op := range []string{"create", "get", "delete"} {
		inVirtualTime(t, func(t *testing.T, w *world) {
			c, _ := w.Connect(t, framework.WithHooks(hanging(op)))
			latch(t, c, "/l")
			time.Sleep(100 * time.Millisecond)
			begun := time.Now()
			require.NoError(t, c.Close())
			require.LessOrEqual(t, time.Since(begun), 2*time.Second, op)
			time.Sleep(3 * time.Hour) // until the hook has returned
		})
	}
}
