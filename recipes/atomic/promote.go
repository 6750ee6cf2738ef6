package atomic

import (
	"context"
	"slices"

	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/locks"
)

// hold is the lock, which a round has taken. An Update whose try was in that round
// goes on under it: it has a share until it returns, and so has each round that it
// meets of the same object, which would wait for it otherwise.
type hold struct {
	lease  *locks.Lease
	shares int // protected by the cell's mu
}

// promote waits for the lock of those who were beaten too often. It excludes
// only others that hold it, so the versions still decide, and the loss of the
// lock does no harm.
func (r *round) promote() error {
	if r.hold = r.shareHold(); r.hold != nil {
		return nil
	}
	lease, err := r.acquire()
	if err != nil {
		return r.beginAnew(err)
	}
	r.hold = r.newHold(lease)
	r.events.Emit(eventPromoted, nil)
	return nil
}

func (r *round) acquire() (lease *locks.Lease, err error) {
	p := r.beginPromotion()
	err = follow.ErrNoReturn // it stays if the user's code ends the goroutine
	defer func() { r.endPromotion(p, err) }()
	return locks.NewInterProcessMutex(r.client, r.cfg.lockPath).Acquire(r.ctx)
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

func (r *round) demote() { r.dropShare(r.ctx, r.hold) }

func (c *cell) newHold(lease *locks.Lease) *hold {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held = &hold{lease: lease, shares: 1}
	return c.held
}

// shareHold returns a share of the lock, if an Update of this object has it.
func (c *cell) shareHold() *hold {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held == nil || c.held.lease.Context().Err() != nil {
		return nil
	}
	c.held.shares++
	return c.held
}

// shareLocked gives a share to an Update whose try has missed. One that has gone
// could not give it back.
func (r *round) shareLocked(w *call, s step) {
	if r.hold == nil || w.update == nil || w.update.hold != nil || w.left || s.writes || s.err != nil {
		return
	}
	r.hold.shares++
	w.update.hold = r.hold
}

// dropShare gives a share back, nil for none. The lock is released with the last.
func (c *cell) dropShare(ctx context.Context, h *hold) {
	if h == nil {
		return
	}
	c.mu.Lock()
	h.shares--
	isLast := h.shares == 0
	if isLast && c.held == h {
		c.held = nil
	}
	c.mu.Unlock()
	if isLast {
		_ = h.lease.Release(ctx) // a lease that was lost needs no release
	}
}
