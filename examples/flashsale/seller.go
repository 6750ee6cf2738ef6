package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes"
)

// seller answers orders.
type seller struct {
	ledger ledger
	worker string
	think  time.Duration // between reading and writing

	// reached is called under the lock at each moment; ctx ends with the lease.
	reached func(ctx context.Context, m moment)
}

// moment is a point in the sale of an order at which a crash is interesting.
type moment string

// The moments at which a sale has not been written, and has been written but not confirmed.
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

// answer is what became of an order.
type answer struct {
	Order  string
	Sold   bool
	Found  bool          // the sale was in the ledger already: another process had made it and died, or a reply was lost
	Left   int           // units that remained when the order was refused
	Token  int64         // of the sale or, for a refusal, of the lease
	Waited time.Duration // from taking the order up to holding the lock under which it was answered
}

// sell answers an order under the article's lock. It goes on until it has an answer or ctx ends.
func (s *seller) sell(ctx context.Context, o order) (answer, error) {
	mutex := recipes.NewInterProcessMutex(s.ledger.client, s.ledger.lockPath(o.Article))
	begun := time.Now()
	for {
		lease, err := mutex.Acquire(ctx)
		if err != nil {
			return answer{}, err
		}
		waited := time.Since(begun)
		held, stop := lease.Under(ctx)
		a, err := s.decide(held, o, lease.FencingToken())
		stop()
		// The error is of no use: the lock's node goes away in any case, and a loss of the lease has shown above.
		_ = lease.Release(ctx)
		if err == nil || ctx.Err() != nil || !undecided(err) {
			a.Waited = waited
			return a, err
		}
	}
}

// undecided reports whether an error leaves open what became of an order. The ledger knows, and the next holder of the
// lock, who may be ourselves, finds out by reading it.
func undecided(err error) bool {
	return errors.Is(err, framework.ErrOutcomeUnknown) || // written or not: the reply was lost
		errors.Is(err, context.Canceled) || // the lease was lost, and with it the right to write
		errors.Is(err, zk.ErrBadVersion) || errors.Is(err, errFenced) || // somebody else wrote, so we had lost the lock
		framework.IsConnectionError(err)
}

// decide sells or refuses. ctx is that of the lease: when the lock is lost, requests under way are abandoned and no
// further one is made.
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

// sellUnsafe does what programs do that have no lock: it trusts that nobody else writes between its read and its write.
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
