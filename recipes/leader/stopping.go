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
// latch may be back before that. In its next session, it could delete the node.
// In the same session, it could lead again with it, and then pass it on. It
// does so when somebody says that the work has stopped: Lead, the release of
// the lease, or Shutdown. Nobody need say so, and then the latch waits until
// the margin is over. The server could have deleted the node by then.

// lastMoments is the time that a leader, told of a loss, has to stop.
type lastMoments struct {
	stopped <-chan struct{} // closed when it has stopped; it need not say so
	by      time.Time
}

// lastMoments returns the time that the leader, told of a loss just now, has to
// stop.
func (l *leadership) lastMoments() lastMoments {
	return lastMoments{l.stopped, time.Now().Add(l.claim.Nodes()[0].Session.SafetyMargin())}
}

// pass waits until the leader has stopped, or has had its time for that, or ctx
// ends. The latch's own context says that the latch was shut down.
func (m lastMoments) pass(ctx context.Context) {
	enough := time.NewTimer(time.Until(m.by))
	defer enough.Stop()
	select {
	case <-m.stopped:
	case <-enough.C:
	case <-ctx.Done():
	}
}

// isLoss reports whether a leadership has ended without anybody's wish, while
// the server may still have its node.
func isLoss(cause error) bool {
	return reason.Is(cause, framework.ErrSessionLost) || reason.Is(cause, framework.ErrSuspended)
}

// dissolveLater gives the node of a lost leadership up when the leader has
// stopped. Meanwhile the latch stands in line behind it.
func (l *Latch) dissolveLater(ctx context.Context, now *leadership) {
	leader := now.lastMoments()
	l.stopping.Go(func() {
		leader.pass(ctx)
		l.dissolve(ctx, now)
	})
}

// keptNode is the node of a leadership that was interrupted. The latch leads
// again with it if the session lives.
type keptNode struct {
	framework.Created
	leader lastMoments
}

// keep returns the node of an interrupted leadership when the latch may lead
// again with it. The latch does not wait if the session ends: it stands in line
// behind the node then.
func (l *Latch) keep(ctx context.Context, now *leadership) *keptNode {
	kept := &keptNode{now.claim.Nodes()[0], now.lastMoments()}
	l.end(now)
	alive, done := context.WithCancel(ctx)
	defer done()
	defer context.AfterFunc(kept.Session.Context(), done)()
	kept.leader.pass(alive)
	return kept
}

// abandonFor returns what becomes of the nodes of an attempt that begins with a
// kept node, or with nil. The node of a session that is over stays until the
// leader has stopped. The argument ctx is the latch's context. The user's
// tracer may end an attempt's context, which does not stop the leader.
func (l *Latch) abandonFor(ctx context.Context, kept *keptNode) func(attempt context.Context, node framework.Created) {
	return func(attempt context.Context, node framework.Created) {
		if kept == nil || node.Path != kept.Path || kept.Session.Context().Err() == nil || l.isClosing() {
			l.abandon(attempt, node)
			return
		}
		l.stopping.Go(func() {
			kept.leader.pass(ctx)
			claim.DeleteInBackground(l.queue.Client(), []framework.Created{kept.Created})
		})
	}
}
