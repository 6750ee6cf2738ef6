package atomic

import (
	"slices"

	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/locks"
)

// promote waits for the lock of those who were beaten too often. It excludes
// only others that hold it, so the versions still decide, and the loss of the
// lock does no harm.
func (r *round) promote() error {
	p := r.beginPromotion()
	lease, err := locks.NewInterProcessMutex(r.client, r.cfg.lockPath).Acquire(r.ctx)
	r.endPromotion(p, err)
	if err != nil {
		return r.beginAnew(err)
	}
	r.lease = lease
	r.events.Emit(eventPromoted, nil)
	return nil
}

// promotion is a wait for the lock.
type promotion struct {
	done    chan struct{}           // closed at its end
	refusal *locks.NotAcquiredError // set before that, if it has ended in vain
}

func (r *round) beginPromotion() *promotion {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.promotion = &promotion{done: make(chan struct{})}
	return r.promotion
}

func (r *round) endPromotion(p *promotion, err error) {
	reason.As(err, &p.refusal)
	close(p.done)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.promotion = nil
}

// leftLocked notes that a caller has gone. If the contexts of all that are left
// have ended, they go with it, and are told why there was no lock.
func (p *promotion) leftLocked(r *round, w *call) {
	stays := func(w *call) bool { return !w.left && w.ctx.Err() == nil }
	if slices.ContainsFunc(r.calls, stays) {
		return
	}
	w.promotion = p
	for _, other := range r.calls {
		if !other.left {
			other.left, other.promotion = true, p
			r.live--
		}
	}
}

// inVain returns the error of a caller with whose end the wait for the lock has
// ended, which does not go on for longer than that takes.
func (p *promotion) inVain(err error) error {
	<-p.done
	if p.refusal == nil {
		return err
	}
	refusal := *p.refusal
	refusal.Err = err
	return &refusal
}

func (r *round) demote() {
	if r.lease != nil {
		_ = r.lease.Release(r.ctx) // a lease that was lost needs no release
	}
}
