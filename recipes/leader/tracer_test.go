package leader_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
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
