package leader_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/recipetest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// A tracer is told of a hand-over as of every other request to give the
// leadership up. It is told once of several requests.
func TestTracerIsToldOfAHandOver(t *testing.T) {
	for _, revoked := range []bool{false, true} {
		inVirtualTime(t, func(t *testing.T, w *world) {
			tracer := &recipetest.Spy{}
			first, second, lease, _ := w.leaderAndNext(t, "/l", framework.WithTracer(tracer))
			if revoked {
				require.NoError(t, locks.Revoke(t.Context(), w.Observer, lease.Path()))
			}
			go heed(lease)
			if err := first.HandOver(t.Context()); err != nil {
				require.ErrorIs(t, err, leader.ErrNotLeader, "it has stepped down already")
			}
			w.await(t, second)
			require.EqualValues(t, 1, tracer.Revoked.Load())
			w.closeAll(t, "/l", first, second)
		})
	}
}

// A grant that crosses with Close begins a leadership that ends at once. With
// WithCloseNotification, readers of Changes are told of its beginning and its
// end. Without that option, they are told of neither.
func TestGrantThatComesWithClose(t *testing.T) {
	for _, notify := range []bool{false, true} {
		inVirtualTime(t, func(t *testing.T, w *world) {
			tracer := &recipetest.Spy{}
			c, _ := w.Connect(t, framework.WithTracer(tracer))
			l := leader.NewLatch(c, "/l", closeNotification(notify)...)
			changes := l.Changes(t.Context())
			tracer.Granted = func() {
				ctx, cancel := context.WithCancel(context.Background())
				cancel() // Close does not wait
				l.Close(ctx)
			}
			require.NoError(t, l.Start())
			heard := slices.Collect(changes)
			if notify {
				require.Len(t, heard, 2)
				require.NoError(t, heard[0].Ended)
				require.Same(t, heard[0].Lease, heard[1].Lease)
				require.ErrorIs(t, heard[1].Ended, locks.ErrReleased)
			} else {
				require.Empty(t, heard)
			}
			require.ErrorIs(t, l.Err(), leader.ErrClosed)
			w.closeAll(t, "/l", l)
		})
	}
}
