package main

import (
	"context"
	"errors"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// seller answers orders.
type seller struct {
	ledger  ledger
	process string
	think   time.Duration // between reading and writing
	unsafe  bool          // write over what another process has written

	// reached is called under the lock at each moment; ctx ends with the lease
	reached func(ctx context.Context, m moment)
}

// moment is a point in the sale of an order at which a crash is interesting.
type moment string

// These are the moments of a crash. At beforeWrite, the sale is not written. At
// afterWrite, the sale is written, but the order has no answer.
const (
	beforeWrite moment = "before-write"
	afterWrite  moment = "after-write"
)

// answer is the outcome of an order.
type answer struct {
	Order    string
	Quantity int
	Process  string
	Sold     bool
	// Found means that the sale was already in the ledger: another process had
	// made it and died, or a reply was lost.
	Found bool
	Left  int   // the remaining units when the order was refused
	Token int64 // the sale's token, or the lease's for a refusal
	// Waited is the time from the start of the order until this process held the
	// lock under which it answered the order.
	Waited time.Duration
}

// sell answers an order under the article's lock. It retries until it has an
// answer or ctx ends.
func (s *seller) sell(ctx context.Context, o order) (answer, error) {
	mutex := locks.NewInterProcessMutex(s.ledger.client, s.ledger.lockPath())
	begun := time.Now()
	for {
		lease, err := mutex.Acquire(ctx)
		if err != nil {
			return answer{}, err
		}
		held, stop := lease.WithContext(ctx)
		a, err := s.decide(held, o, lease.FencingToken(), time.Since(begun))
		stop()
		// The error needs no handling. The lock's node is deleted in any case,
		// and a lost lease has already shown in err.
		_ = lease.Release(ctx)
		if err == nil || ctx.Err() != nil || !undecided(err) {
			return a, err
		}
	}
}

// undecided reports whether an error leaves the outcome of an order open. The
// next holder of the lock, which may be this process, reads the outcome from the
// ledger.
func undecided(err error) bool {
	return errors.Is(err, framework.ErrOutcomeUnknown) || // the reply was lost
		// The lease was lost, and with it the right to write.
		errors.Is(err, context.Canceled) ||
		// Another process wrote, so the lock was lost.
		errors.Is(err, zk.ErrBadVersion) || errors.Is(err, errFenced) ||
		framework.IsConnectionError(err)
}

// decide sells or refuses. The lease ends ctx: when the lock is
// lost, pending requests are abandoned and no further request is sent.
func (s *seller) decide(ctx context.Context, o order, token int64, waited time.Duration) (answer, error) {
	a := answer{Order: o.ID, Quantity: o.Quantity, Process: s.process, Token: token, Waited: waited}
	account, version, err := s.ledger.account(ctx)
	if err != nil {
		return a, err
	}
	for _, sale := range account.Sales {
		if sale.Order == o.ID {
			a.Sold, a.Found, a.Token = true, true, sale.Token
			return a, s.ledger.answer(ctx, a)
		}
	}
	select {
	case <-time.After(s.think):
	case <-ctx.Done():
		return a, ctx.Err()
	}
	if account.Remaining < o.Quantity {
		a.Left = account.Remaining
		return a, s.ledger.answer(ctx, a)
	}
	if s.unsafe {
		version = framework.AnyVersion
	}
	s.reached(ctx, beforeWrite)
	if err := s.ledger.record(ctx, account, version, sale{o.ID, o.Quantity, token}); err != nil {
		return a, err
	}
	s.reached(ctx, afterWrite)
	a.Sold = true
	return a, s.ledger.answer(ctx, a)
}

// sellUnsafe works like a program without locks. It trusts that no other
// process writes between its read and its write.
func (s *seller) sellUnsafe(ctx context.Context, o order) (answer, error) {
	s.unsafe = true
	return s.decide(ctx, o, 0, 0)
}
