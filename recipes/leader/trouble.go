package leader

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/semconv"
	"github.com/gocurator/curator/recipes/internal/lockloop"
)

// A candidacy is for long, and nobody looks at it: what ends an acquire, which
// somebody waits for, is trouble that it outlasts.

// The pauses before a latch stands again grow while the trouble lasts.
const (
	candidacyPause     = time.Second
	longestOfItsPauses = 30 * time.Second
)

// outlasts reports whether to stand again after an error, and pauses before.
func (l *Latch) outlasts(ctx context.Context, err error) bool {
	if ctx.Err() != nil || endsCandidacy(err) {
		return false
	}
	pause, isNew := l.noteTrouble(err)
	if isNew {
		framework.Extend(l.queue.Client()).Logger().Warn("leader latch stands again after an error",
			semconv.LockPath, l.queue.FullPath(), semconv.Cause, err)
	}
	over := time.NewTimer(pause)
	defer over.Stop()
	select {
	case <-over.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// endsCandidacy reports whether waiting does not cure an error. Credentials are
// refused by the servers before they look at a request.
func endsCandidacy(err error) bool {
	return framework.IsRefusal(err) || reason.Is(err, framework.ErrClosed) || reason.Is(err, zk.ErrAuthFailed)
}

// noteTrouble takes down why the latch is not in the queue, for the errors of
// those who wait. It returns how long to pause, and whether this is not the
// same trouble as before.
func (l *Latch) noteTrouble(err error) (pause time.Duration, isNew bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.trouble == nil {
		l.pause = candidacyPause
	} else {
		l.pause = min(2*l.pause, longestOfItsPauses)
	}
	isNew = l.trouble == nil || kindOfTrouble(l.trouble) != kindOfTrouble(err)
	l.trouble, l.retried = err, nil
	l.seen = lockloop.NotAdmitted{} // our node is gone, and nobody is ahead of it
	return l.pause, isNew
}

// kindOfTrouble tells one error from another. It leaves out the path: each
// attempt has a node of its own.
func kindOfTrouble(err error) string {
	var op *framework.OpError
	if reason.As(err, &op) {
		return op.Op + ": " + op.Err.Error()
	}
	return err.Error()
}

// noteQueue takes down how things stand, for the errors of those who wait.
func (l *Latch) noteQueue(r lockloop.NotAdmitted) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen, l.trouble, l.retried = r, nil, nil
}

// noteRetry takes down an error after which a request is made again. The latch
// itself hears of it only if that is given up.
func (l *Latch) noteRetry(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.retried = err
}

// gaveUp is the error of an Await whose context has ended.
func (l *Latch) gaveUp(ctx context.Context) error {
	l.mu.Lock()
	r, trouble := l.seen, cmp.Or(l.retried, l.trouble)
	l.mu.Unlock()
	switch {
	case trouble != nil:
		r.Err = fmt.Errorf("%w (last error: %w)", reason.OfContext(ctx), trouble)
	default:
		r.Err = l.queue.WhileConnecting(ctx)
	}
	return l.queue.Refuse(ctx, &r)
}
