package leader

import (
	"context"
	"slices"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
)

// deletion is the deletion of a node that may still be there: the last attempt
// has failed. The client goes on with it, unless the server refuses it.
type deletion struct {
	session *framework.Session
	again   func(context.Context) error // waits for it
	err     error                       // why the node may still be there
	awaited bool                        // the first Shutdown's context was the attempt's
}

// deleting calls del to delete a node of a session, and notes the deletion if the
// node may still be there: Shutdown waits for it.
func (l *Latch) deleting(ctx context.Context, of *framework.Session, del func(context.Context) error) error {
	ctx, closing := l.deletionContext(ctx)
	err := del(framework.Extend(l.queue.Client()).OnTrouble(ctx, l.queue.removal.Note))
	if err == nil || !closing { // else nobody waits for it any more, until a Shutdown does
		l.queue.removal.Note(nil)
	}
	if err == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left = append(l.leftLocked(), &deletion{of, del, err, closing})
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
// server has refused. If the session is over meanwhile, its end deletes the node.
func (l *Latch) leftBehind(ctx context.Context, first bool) (err error) {
	for _, d := range l.undeleted() {
		why := d.err
		if tried := first && d.awaited; !tried && !framework.IsRefusal(why) {
			why = d.again(ctx)
		}
		switch {
		case why == nil, reason.Is(why, framework.ErrClosed), d.session.Context().Err() != nil:
			l.deleted(d)
		case err == nil, framework.IsRefusal(why):
			err = why
		}
	}
	return err
}

func (l *Latch) undeleted() []*deletion {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.leftLocked())
}

// leftLocked forgets nodes of sessions that are over: the servers delete those.
func (l *Latch) leftLocked() []*deletion {
	l.left = slices.DeleteFunc(l.left, func(d *deletion) bool { return d.session.Context().Err() != nil })
	return l.left
}

func (l *Latch) deleted(d *deletion) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left = slices.DeleteFunc(l.left, func(other *deletion) bool { return other == d })
}
