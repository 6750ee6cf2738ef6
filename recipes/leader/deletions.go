package leader

import (
	"context"
	"slices"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/internal/trace"
)

// deletion is the deletion of a node that may still be there: no server has said
// that it is gone. The client goes on with it, unless a server refuses it.
type deletion struct {
	node    framework.Created
	err     error     // why the node may still be there
	awaited bool      // the first Shutdown has waited for this attempt
	until   time.Time // by then the servers have ended the session
}

// deleting calls del to delete a node, and notes the deletion if the node may still
// be there: Shutdown waits for it.
func (l *Latch) deleting(ctx context.Context, node framework.Created, del func(context.Context) error) error {
	ctx, closing := l.deletionContext(ctx)
	err := del(framework.Extend(l.queue.Client()).OnTrouble(ctx, l.queue.removal.Note))
	if err == nil || !closing { // otherwise, no caller waits until a Shutdown does
		l.queue.removal.Note(nil)
	}
	if err == nil {
		return nil
	}
	d := &deletion{node: node, err: err, awaited: closing && !reason.Is(err, framework.ErrLeftToServers)}
	d.until = time.Now().Add(3 * node.Session.Timeout())
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left = append(l.left, d)
	return err
}

// deletionContext is the context under which nodes are deleted. The first
// Shutdown waits for the deletion, and so it is the Shutdown's from then on.
func (l *Latch) deletionContext(ctx context.Context) (_ context.Context, closing bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing != nil {
		return l.closing, true
	}
	return ctx, false
}

// leftBehind waits for the deletion of nodes that may still be there, and
// returns why one of them may be there after that. The first Shutdown does not
// try again what was tried under its context, and nobody tries again what the
// server has refused.
func (l *Latch) leftBehind(ending *follow.Ending, first bool) (err error) {
	for _, d := range l.undeleted() {
		why := d.err
		if tried := first && d.awaited; !tried && !framework.IsRefusal(why) {
			why = l.queue.delete(ending.Context(), d.node)
		}
		switch why = ending.Err(d.node.Session, why); {
		case why == nil:
			l.deleted(d)
		case err == nil, framework.IsRefusal(why):
			err = why
		}
	}
	return err
}

// delete deletes a node. The client goes on if that fails.
func (q *candidates) delete(ctx context.Context, node framework.Created) error {
	ctx, wait := trace.Unblocked(framework.Extend(q.Client()).OnTrouble(ctx, q.removal.Note), q.Client())
	defer wait()
	return q.Client().Delete(ctx, node.Path, framework.AnyVersion, framework.WithGuarantee())
}

func (l *Latch) undeleted() []*deletion {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.left)
}

// forgetEndedLocked forgets nodes of sessions that the servers have ended by now.
// The latch has just made a node in another session, so that the servers have a
// leader.
func (l *Latch) forgetEndedLocked() {
	l.left = slices.DeleteFunc(l.left, func(d *deletion) bool {
		return d.node.Session.Context().Err() != nil && time.Now().After(d.until)
	})
}

func (l *Latch) deleted(d *deletion) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left = slices.DeleteFunc(l.left, func(other *deletion) bool { return other == d })
}
