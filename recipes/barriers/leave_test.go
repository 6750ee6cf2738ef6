package barriers_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/barriers"
	"github.com/gocurator/curator/testing/zktest"
)

// A member marks its node, the reply is lost, and another member ends the
// round. Both have left, and Leave says so.
func TestLeaveWhoseMarkHasNoReply(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		clients := w.clients(t, 2)
		p := w.enterAll(t, "/b", clients)
		first := leaveLater(w.Patience(t), p[0])
		settle()
		w.Fake.Inject(zktest.Rule{Op: zktest.OpSetData, Session: clients[1].SessionID(), Do: zktest.DropReply()})
		second := leaveLater(w.Patience(t), p[1])
		<-first.done
		<-second.done
		require.NoError(t, first.err)
		require.NoError(t, second.err)
	})
}

// A Leave that has given up says the same when it is called again.
func TestSecondLeaveReturnsTheSame(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		p := w.enterAll(t, "/b", w.clients(t, 2))
		settle()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		first := p[0].Leave(ctx)
		require.ErrorContains(t, first, "leave /b: other members have not left: ")
		require.ErrorIs(t, first, barriers.ErrNotLeft)
		require.ErrorIs(t, first, context.DeadlineExceeded)
		settle()
		require.Equal(t, first, p[0].Leave(ctx))
		require.Equal(t, first, p[0].Leave(w.Patience(t)))
	})
}
