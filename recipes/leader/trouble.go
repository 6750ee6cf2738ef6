package leader

import (
	"context"

	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/internal/lockloop"
)

// A candidacy is for long, and nobody looks at it: what ends an acquire, which
// somebody waits for, is trouble that it outlasts.

// newRecovery returns how a latch gets over trouble.
func (l *Latch) newRecovery() follow.Recovery {
	return follow.Recovery{
		Client: l.queue.Client(),
		What:   "leader latch",
		About:  l.queue.Events().Path,
	}
}

// outlast waits until it is time to stand again after an error. It returns the
// error if waiting does not cure it, or ctx's if ctx ends first.
func (l *Latch) outlast(ctx context.Context, err error) error {
	l.noteSeen(lockloop.NotAdmitted{}) // our node is gone, and nobody is ahead of it
	return l.recovery.Wait(ctx, err)
}

// noteQueue takes down how things stand, for the errors of those who wait.
func (l *Latch) noteQueue(r lockloop.NotAdmitted) {
	l.noteSeen(r)
	l.recovery.Recovered()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forgetEndedLocked()
}

func (l *Latch) noteSeen(r lockloop.NotAdmitted) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen = r
}

// gaveUp is the error of a WaitLeadership whose context has ended.
func (l *Latch) gaveUp(ctx context.Context) error {
	l.mu.Lock()
	r := l.seen
	l.mu.Unlock()
	r.Err = l.recovery.GaveUp(ctx)
	return l.queue.Refuse(ctx, &r)
}
