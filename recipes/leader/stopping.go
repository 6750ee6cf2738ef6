package leader

import (
	"context"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/claim"
)

// A leader that was told of a loss has the safety margin to stop. Its node
// keeps the next one from leading until then, if the server still has it. The
// latch may be back before that, in its next session, in which it could delete
// the node. It does so when somebody says that the work has stopped: Lead, the
// release of the lease, or Close. Nobody need say so, and then the latch
// deletes the node when the margin is over. The server could have done so by
// then.

// keptNode is the node of a leadership that was interrupted. The latch leads
// again with it if the session lives.
type keptNode struct {
	framework.Created
	stopsBy time.Time // of the leadership
}

// isLoss reports whether a leadership has ended without anybody's wish, while
// the server may still have its node.
func isLoss(cause error) bool {
	return reason.Is(cause, framework.ErrSessionLost) || reason.Is(cause, framework.ErrSuspended)
}

// stopsBy returns by when the leader has stopped, if it was told to just now.
func (l *leadership) stopsBy() time.Time {
	return time.Now().Add(l.claim.Nodes()[0].Session.SafetyMargin())
}

// dissolveLater gives the node of a lost leadership up when the leader has
// stopped. Meanwhile the latch stands in line behind it.
func (l *Latch) dissolveLater(ctx context.Context, now *leadership) {
	by := now.stopsBy()
	l.stopping.Go(func() {
		awaitStop(ctx, now.claim.Over(), by)
		now.claim.Dissolve(l.deletionContext(ctx))
	})
}

// abandonKept returns what becomes of a kept node with which the latch cannot
// lead again: the session is over, or the latch is being closed.
func (l *Latch) abandonKept(kept keptNode) func(ctx context.Context, node string) {
	return func(ctx context.Context, node string) {
		if node != kept.Path || l.isClosing() || !time.Now().Before(kept.stopsBy) {
			l.abandon(ctx, node)
			return
		}
		l.stopping.Go(func() {
			awaitStop(ctx, nil, kept.stopsBy)
			claim.DeleteInBackground(l.queue.Client(), []framework.Created{kept.Created})
		})
	}
}

// awaitStop waits until a leader has released its lease, has had its time to
// stop, or is closed. The end of ctx says that.
func awaitStop(ctx context.Context, released <-chan struct{}, by time.Time) {
	enough := time.NewTimer(time.Until(by))
	defer enough.Stop()
	select {
	case <-released:
	case <-enough.C:
	case <-ctx.Done():
	}
}
