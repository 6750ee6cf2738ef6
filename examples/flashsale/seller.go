package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// seller answers orders.
type seller struct {
	ledger ledger
	worker string
	think  time.Duration // between reading and writing

	// reached is called under the lock at each moment; ctx ends with the lease
	reached func(ctx context.Context, m moment)
}

// moment is a point in the sale of an order at which a crash is interesting.
type moment string

// The moments before the sale is written, and after it is written but before it
// is confirmed.
const (
	beforeWrite moment = "before-write"
	afterWrite  moment = "after-write"
)

func (m *moment) set(s string) error {
	*m = moment(s)
	if *m != beforeWrite && *m != afterWrite {
		return fmt.Errorf("must be %s or %s", beforeWrite, afterWrite)
	}
	return nil
}

// answer is the outcome of an order.
type answer struct {
	Order string
	Sold  bool
	// Found means that the sale was already in the ledger: another process had
	// made it and died, or a reply was lost.
	Found bool
	Left  int   // the remaining units when the order was refused
	Token int64 // the sale's token, or the lease's for a refusal
	// Waited is the time from the start of the order until the lock was held
	// under which it was answered.
	Waited time.Duration
}

// sell answers an order under the article's lock. It retries until it has an
// answer or ctx ends.
func (s *seller) sell(ctx context.Context, o order) (answer, error) {
	mutex := locks.NewInterProcessMutex(s.ledger.client, s.ledger.lockPath(o.Article))
	begun := time.Now()
	for {
		lease, err := mutex.Acquire(ctx)
		if err != nil {
			return answer{}, err
		}
		waited := time.Since(begun)
		held, stop := lease.WithContext(ctx)
		a, err := s.decide(held, o, lease.FencingToken())
		stop()
		// The error needs no handling. The lock's node is deleted in any case,
		// and a lost lease has already shown in err.
		_ = lease.Release(ctx)
		if err == nil || ctx.Err() != nil || !undecided(err) {
			a.Waited = waited
			return a, err
		}
	}
}

// undecided reports whether an error leaves the outcome of an order open. The
// ledger knows it. The next holder of the lock, which may be this process,
// finds it out by reading the ledger.
func undecided(err error) bool {
	return errors.Is(err, framework.ErrOutcomeUnknown) || // the reply was lost
		// The lease was lost, and with it the right to write.
		errors.Is(err, context.Canceled) ||
		// Another process wrote, so the lock was lost.
		errors.Is(err, zk.ErrBadVersion) || errors.Is(err, errFenced) ||
		framework.IsConnectionError(err)
}

// decide sells or refuses. The context is that of the lease. When the lock is
// lost, pending requests are abandoned and no further one is sent.
func (s *seller) decide(ctx context.Context, o order, token int64) (answer, error) {
	account, version, err := s.ledger.account(ctx, o.Article)
	if err != nil {
		return answer{}, err
	}
	if sale, found := account.sale(o.ID); found {
		return answer{Order: o.ID, Sold: true, Found: true, Token: sale.Token}, s.ledger.confirm(ctx, sale)
	}
	if err := pause(ctx, s.think); err != nil {
		return answer{}, err
	}
	if account.Remaining < o.Quantity {
		return answer{Order: o.ID, Left: account.Remaining, Token: token}, nil
	}
	s.reached(ctx, beforeWrite)
	sale := sale{Order: o.ID, Article: o.Article, Quantity: o.Quantity, Worker: s.worker, Token: token}
	if err := s.ledger.record(ctx, account, version, sale); err != nil {
		return answer{}, err
	}
	s.reached(ctx, afterWrite)
	return answer{Order: o.ID, Sold: true, Token: token}, s.ledger.confirm(ctx, sale)
}

// sellUnsafe works like a program without locks. It trusts that no other
// process writes between its read and its write.
func (s *seller) sellUnsafe(ctx context.Context, o order) (answer, error) {
	account, _, err := s.ledger.account(ctx, o.Article)
	if err != nil {
		return answer{}, err
	}
	if err := pause(ctx, s.think); err != nil {
		return answer{}, err
	}
	if account.Remaining < o.Quantity {
		return answer{Order: o.ID, Left: account.Remaining}, nil
	}
	sale := sale{Order: o.ID, Article: o.Article, Quantity: o.Quantity, Worker: s.worker}
	if err := s.ledger.record(ctx, account, framework.AnyVersion, sale); err != nil {
		return answer{}, err
	}
	return answer{Order: o.ID, Sold: true}, s.ledger.confirm(ctx, sale)
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
