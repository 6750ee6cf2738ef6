package locks

import (
	"context"
	"slices"

	"github.com/gocurator/curator/recipes/internal/claim"
	"github.com/gocurator/curator/recipes/internal/lockloop"
	"github.com/gocurator/curator/recipes/internal/queue"
)

// refusing is a lock that may refuse a try before it begins, by reads alone or
// without a request. The error is nil if it does not.
type refusing interface {
	refuseFirst(ctx context.Context) error
}

// refuseFirst asks all locks before the first is acquired. Otherwise those before
// the one that is held would have to be acquired and released.
func (l *InterProcessMultiLock) refuseFirst(ctx context.Context) error {
	for i, lock := range l.locks {
		if upgrades(lock, l.locks[:i]) {
			return nil // the try says so
		}
		if r := refusingOf(lock); r != nil {
			if err := r.refuseFirst(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// upgrades reports whether a lock is the write side of one whose read side is
// acquired before it.
func upgrades(l Locker, before []Locker) bool {
	w, isWriter := l.(*WriteLock)
	return isWriter && slices.ContainsFunc(before, func(l Locker) bool {
		r, isReader := l.(*ReadLock)
		return isReader && orZero(r.of).read.Key() == orZero(w.of).read.Key()
	})
}

// refusingOf returns nil for a Locker from elsewhere. It may have one of ours
// inside, and a TryAcquire of its own.
func refusingOf(l Locker) refusing {
	switch l := l.(type) {
	case *InterProcessMutex:
		return l
	case *ReadLock:
		return l
	case *WriteLock:
		return l
	case *InterProcessSemaphore:
		return l
	case *InterProcessMultiLock:
		return l
	default:
		return nil
	}
}

func (m *InterProcessMutex) refuseFirst(ctx context.Context) error { return m.queue.RefuseFirst(ctx) }

func (w *WriteLock) refuseFirst(ctx context.Context) error {
	of := orZero(w.of)
	if claim.FromContext(ctx, of.read.Key()).HasShares() {
		return nil // an upgrade
	}
	return of.write.RefuseFirst(ctx)
}

func (r *ReadLock) refuseFirst(ctx context.Context) error {
	of := orZero(r.of)
	if claim.FromContext(ctx, of.write.Key()).HasShares() {
		return nil // a downgrade
	}
	return of.read.RefuseFirst(ctx)
}

func (s *InterProcessSemaphore) refuseFirst(ctx context.Context) error {
	if s.leases.Ready(ctx) != nil || s.limit.check(1) != nil {
		return nil // the try says what is wrong
	}
	return s.refuseTry(ctx, queue.Attempt{}, 1)
}

// refuseTry refuses an attempt that does not wait by a look at the leases, if the
// last attempt was in vain, too. It returns nil if the attempt has to pass the
// gate.
func (s *InterProcessSemaphore) refuseTry(ctx context.Context, a queue.Attempt, n int) error {
	asked := &leasesAsked{n: n}
	refusal := s.leases.LookFirst(ctx, asked.wanted(), s.leases.InLoop(a))
	if refusal == nil {
		return nil
	}
	return s.refuse(ctx, a, refusal, asked)
}

// leasesAsked is how many leases an acquire asks for, and what it has read of
// their limit.
type leasesAsked struct {
	n, limit  int
	limitRead bool
}

func (l *leasesAsked) wanted() lockloop.Wanted {
	return lockloop.Wanted{N: l.n, OnLimit: func(limit int) { l.limit, l.limitRead = limit, true }}
}

// tooLow reports whether the limit is too low, whoever gives leases back.
func (l *leasesAsked) tooLow() bool { return l.limitRead && l.n > l.limit }

// refuse returns the error of an acquire that was refused at the leases.
func (s *InterProcessSemaphore) refuse(ctx context.Context, a queue.Attempt, r *lockloop.NotAdmitted, asked *leasesAsked) error {
	seen := !r.Seen.IsZero() // the leases, by this attempt
	r.Recall(s.gate.Beyond())
	a.Recall(r)
	if asked.tooLow() && (r.Err == nil || ctx.Err() != nil) { // ctx may end a moment after its copy
		return s.leases.RefuseLimit(r, asked.n, asked.limit)
	}
	err := s.leases.Refuse(ctx, r)
	if asked.limitRead && seen {
		err = noteLeases(err, asked.n, asked.limit)
	}
	return err
}
