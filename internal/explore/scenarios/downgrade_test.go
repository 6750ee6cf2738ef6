package scenarios

import (
	"context"
	"errors"
	"testing"

	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/recipes/locks"
)

// downgrader writes, and goes on as a reader. No writer comes in between.
func (l *library) downgrader(a *explore.Actor) {
	lock := locks.NewInterProcessReadWriteLock(a.Client(), "/lock")
	writes, _ := take(l.world, a, "write", lock.WriteLock().Acquire)
	if writes == nil {
		return
	}
	l.write(a, writes)
	reads, err := take(l.world, a, "downgrade", func(ctx context.Context) (*locks.Lease, error) {
		under, done := writes.WithContext(ctx)
		defer done()
		return lock.ReadLock().Acquire(under)
	})
	if lost := context.Cause(writes.Context()); lost != nil && err != nil && !errors.Is(err, lost) && !errors.Is(err, context.Canceled) {
		l.world.Fail("%s: the downgrade of a lost lock returns %v", a.Name(), err)
	}
	if reads != nil && writes.Context().Err() == nil && reads.FencingToken() != writes.FencingToken() {
		l.world.Fail("%s: the downgrade has token %d instead of %d", a.Name(), reads.FencingToken(), writes.FencingToken())
	}
	give(l.world, a, writes)
	if reads != nil {
		l.read(a, reads)
		give(l.world, a, reads)
	}
}

func TestDowngradeBeforeAWriter(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		l := newLibrary(w, 1)
		w.Actor("A", l.downgrader)
		w.Actor("B", l.writer)
	}, quick())
}
