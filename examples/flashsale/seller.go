package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/fence"
	"github.com/gocurator/curator/recipes/locks"
)

// seller answers orders.
type seller struct {
	ledger  ledger
	process string
	unsafe  bool                                       // without the lock, and without a check of the version
	reached func(ctx context.Context, at moment) error // called at each moment; the lease ends ctx
}

// moment is a point in the sale of an order at which a crash is interesting.
type moment string

const (
	beforeWrite moment = "before-write" // the sale is not written yet
	afterWrite  moment = "after-write"  // the sale is written, and the answer is not
)

// answer is the outcome of an order.
type answer struct {
	order
	Process string
	Sold    bool
	Found   bool          // the sale was in the ledger: another process had died, or a reply was lost
	Left    int           // the remaining units when the order was refused
	Token   int64         // the sale's token, or the lease's for a refusal
	Waited  time.Duration // until the process held the lock under which it answered the order
}

// sell answers an order under the article's lock. It retries until it has an answer or ctx ends.
func (s seller) sell(ctx context.Context, o order) (answer, error) {
	if s.unsafe { // like a program without locks
		return s.decide(ctx, o, 0, 0)
	}
	mutex := locks.NewInterProcessMutex(s.ledger.client, lockPath)
	begun := time.Now()
	for {
		lease, err := mutex.Acquire(ctx)
		if err != nil {
			return answer{}, err
		}
		held, stop := lease.WithContext(ctx)
		a, err := s.decide(held, o, lease.FencingToken(), time.Since(begun))
		stop()
		// The lock's node is deleted in any case, and a lost lease has already shown in err.
		_ = lease.Release(ctx)
		if err == nil || ctx.Err() != nil || !undecided(err) {
			return a, err
		}
	}
}

// undecided reports whether an error leaves the outcome of an order open. The next holder of
// the lock, which may be this process, finds the outcome in the ledger.
func undecided(err error) bool {
	return errors.Is(err, framework.ErrOutcomeUnknown) || // the reply was lost
		errors.Is(err, context.Canceled) || // the lease was lost, and with it the right to write
		errors.Is(err, zk.ErrBadVersion) || errors.Is(err, fence.ErrStale) || // another holder has written
		framework.IsConnectionError(err)
}

// decide sells or refuses. The lease ends ctx: when the lock is lost, pending requests are
// abandoned and no further request is sent.
//
// A reader that holds the lock needs no Sync: its server has applied the end of the previous
// holder's node, and so has applied every write of the previous holder.
func (s seller) decide(ctx context.Context, o order, token int64, waited time.Duration) (answer, error) {
	a := answer{order: o, Process: s.process, Token: token, Waited: waited}
	var stock account
	version, err := s.ledger.read(ctx, accountPath, &stock)
	if err != nil {
		return a, err
	}
	for _, sale := range stock.Sales {
		if sale.Order == o.ID {
			a.Sold, a.Found, a.Token = true, true, sale.Token
			return a, s.ledger.create(ctx, answersPath+o.ID, a)
		}
	}
	if stock.Remaining < o.Quantity {
		a.Left = stock.Remaining
		return a, s.ledger.create(ctx, answersPath+o.ID, a)
	}
	if s.unsafe {
		version = framework.AnyVersion
	}
	if err := s.reached(ctx, beforeWrite); err != nil {
		return a, err
	}
	if err := s.ledger.record(ctx, stock, version, sale{o.ID, o.Quantity, token}); err != nil {
		return a, err
	}
	if err := s.reached(ctx, afterWrite); err != nil {
		return a, err
	}
	a.Sold = true
	return a, s.ledger.create(ctx, answersPath+o.ID, a)
}

// ledger is the shop's books in ZooKeeper, in persistent nodes:
//
//	/stock/sneaker      the account: the remaining units and every sale
//	/answers/<order>    what the customer knows: a receipt or a refusal
//	/locks/sneaker      the lock that protects the account
//
// The account is a single node, so that one write both takes the units and records the sale.
// The answer is written after the sale. A worker that dies in between leaves a sale without a
// receipt. The process that takes over the order finds the sale and writes the receipt.
type ledger struct{ client *framework.Client }

// The article that the shop sells, its initial stock, and the ledger's nodes.
const (
	article      = "sneaker"
	initialStock = 100
	accountPath  = "/stock/" + article
	answersPath  = "/answers/"
	lockPath     = "/locks/" + article
)

// account is the content of the article's node.
type account struct {
	Remaining int
	Token     int64 // the fencing token of the last sale
	Sales     []sale
}

// sale is an order that was filled.
type sale struct {
	Order    string
	Quantity int
	Token    int64 // the fencing token of the sale's lease; 0 without the lock
}

// create writes a new node, unless the node exists.
func (l ledger) create(ctx context.Context, path string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = l.client.Create(ctx, path, data, framework.WithParents())
	if errors.Is(err, zk.ErrNodeExists) {
		return nil
	}
	return err
}

func (l ledger) read(ctx context.Context, path string, v any) (version int32, err error) {
	data, stat, err := l.client.Get(ctx, path)
	if err != nil {
		return 0, err
	}
	return stat.Version, json.Unmarshal(data, v)
}

// record adds a sale to an account that was read at the given version.
//
// This is how a resource uses a fencing token: the resource remembers the largest token that
// it has seen and refuses smaller ones. The comparison and the write must be one step, or an
// old holder could write in between. Here the version makes them one step. A write of an old
// holder may still succeed before the first write of the new holder. The new holder's version
// is then out of date, and the new holder reads the account again.
func (l ledger) record(ctx context.Context, a account, version int32, s sale) error {
	if s.Token < a.Token {
		return fmt.Errorf("%s: %w: %d after %d", accountPath, fence.ErrStale, s.Token, a.Token)
	}
	a.Remaining -= s.Quantity
	a.Token = s.Token
	a.Sales = append(a.Sales, s)
	data, err := json.Marshal(a)
	if err != nil {
		return err
	}
	_, err = l.client.Set(ctx, accountPath, data, version)
	return err
}

// books reads everything. The exit of the workers tells this process that they have written,
// and only a Sync makes sure that this client's server has the workers' writes, too.
func (l ledger) books(ctx context.Context, orders []order) (books, error) {
	b := books{answers: make([]answer, len(orders))}
	err := l.client.Sync(ctx, "/")
	if err == nil {
		_, err = l.read(ctx, accountPath, &b.account)
	}
	for i := 0; i < len(orders) && err == nil; i++ {
		_, err = l.read(ctx, answersPath+orders[i].ID, &b.answers[i])
	}
	return b, err
}
