package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
)

// ledger is the shop's books in ZooKeeper, in persistent nodes:
//
//	<root>/stock/<article>    an account: the remaining units and every sale
//	<root>/sold/<order>       a receipt: the sale that the customer knows of
//	<root>/locks/<article>    the lock that protects the account
//
// An account is a single node, so that one write both takes the units and
// records the sale. One cannot happen without the other. The receipt is written
// after that. A worker that dies in between leaves a sale without a receipt.
// The process that takes over its order finds the sale in the account and
// writes the receipt.
type ledger struct {
	client *framework.Client
	root   string
}

// account is the content of an article's node.
type account struct {
	Remaining int
	Token     int64 // the fencing token of the last sale
	Sales     []sale
}

// sale is an order that was filled.
type sale struct {
	Order    string
	Article  string
	Quantity int
	Worker   string
	Token    int64 // the fencing token of the sale's lease; 0 without the lock
}

func (l ledger) accountPath(article string) string { return path.Join(l.root, "stock", article) }
func (l ledger) receiptPath(order string) string   { return path.Join(l.root, "sold", order) }
func (l ledger) lockPath(article string) string    { return path.Join(l.root, "locks", article) }

// open creates a ledger with the initial stock.
func (l ledger) open(ctx context.Context, stock []article) error {
	// The ledger's nodes are persistent. Containers could be removed while they
	// are empty.
	for _, p := range []string{l.root, path.Join(l.root, "stock"), path.Join(l.root, "sold")} {
		if _, err := l.client.Create(ctx, p, nil, framework.WithParents()); err != nil {
			return err
		}
	}
	for _, a := range stock {
		data, err := json.Marshal(account{Remaining: a.Units})
		if err != nil {
			return err
		}
		if _, err := l.client.Create(ctx, l.accountPath(a.Name), data); err != nil {
			return err
		}
	}
	return nil
}

// account returns an article's account and the version to write it back with. A
// reader that holds the lock needs no Sync. The reader's server has shown it
// that the holder before is gone, so that server also knows everything that
// this holder wrote.
func (l ledger) account(ctx context.Context, article string) (account, int32, error) {
	var a account
	data, stat, err := l.client.Get(ctx, l.accountPath(article))
	if err != nil {
		return a, 0, err
	}
	if err := json.Unmarshal(data, &a); err != nil {
		return a, 0, fmt.Errorf("%s: %w", l.accountPath(article), err)
	}
	return a, stat.Version, nil
}

// sale returns the sale that filled an order.
func (a account) sale(order string) (sale, bool) {
	i := slices.IndexFunc(a.Sales, func(s sale) bool { return s.Order == order })
	if i < 0 {
		return sale{}, false
	}
	return a.Sales[i], true
}

// errFenced means that a later holder of the lock has already written.
var errFenced = errors.New("fencing token is older than the account's")

// record adds a sale to an account that was read at the given version.
//
// This is how a resource uses a fencing token: it remembers the largest token
// that it has seen and refuses smaller ones. Both must be one step, or an old
// holder could write in between. Here the version makes them one step. A write
// of an old holder may still succeed before the first write of the new holder.
// The new holder's version is then out of date, and it reads again.
func (l ledger) record(ctx context.Context, a account, version int32, s sale) error {
	if s.Token < a.Token {
		return fmt.Errorf("%s: %w: %d after %d", l.accountPath(s.Article), errFenced, s.Token, a.Token)
	}
	a.Remaining -= s.Quantity
	a.Token = s.Token
	a.Sales = append(slices.Clip(a.Sales), s)
	data, err := json.Marshal(a)
	if err != nil {
		return err
	}
	_, err = l.client.Set(ctx, l.accountPath(s.Article), data, version)
	return err
}

// confirm writes the receipt for a recorded sale. A second call changes
// nothing.
func (l ledger) confirm(ctx context.Context, s sale) error {
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	_, err = l.client.Create(ctx, l.receiptPath(s.Order), data)
	if errors.Is(err, zk.ErrNodeExists) {
		return nil
	}
	return err
}

// receipts returns all receipts.
func (l ledger) receipts(ctx context.Context) ([]sale, error) {
	orders, _, err := l.client.Children(ctx, path.Join(l.root, "sold"))
	if err != nil {
		return nil, err
	}
	slices.Sort(orders)
	receipts := make([]sale, len(orders))
	for i, order := range orders {
		data, _, err := l.client.Get(ctx, l.receiptPath(order))
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(data, &receipts[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", l.receiptPath(order), err)
		}
	}
	return receipts, nil
}

// books reads everything. The workers have written it, and have told this
// process so by other ways than ZooKeeper. Only a Sync makes sure that our
// server knows of their writes, too.
func (l ledger) books(ctx context.Context, stock []article) (books, error) {
	b := books{accounts: map[string]account{}}
	err := l.client.Sync(ctx, l.root)
	for _, a := range stock {
		if err != nil {
			return books{}, err
		}
		b.accounts[a.Name], _, err = l.account(ctx, a.Name)
	}
	if err != nil {
		return books{}, err
	}
	b.receipts, err = l.receipts(ctx)
	return b, err
}

// remove deletes the ledger and the locks. The lock nodes of dead workers may
// disappear meanwhile.
func (l ledger) remove(ctx context.Context) error {
	return l.client.Delete(ctx, l.root, framework.AnyVersion, framework.WithChildren(), framework.WithMissingOK())
}
