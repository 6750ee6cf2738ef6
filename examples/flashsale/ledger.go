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
//	<root>/stock/<article>    an account: what remains, and every sale so far
//	<root>/sold/<order>       a receipt: the sale that the customer was told of
//	<root>/locks/<article>    the lock that protects the account
//
// An account is one node, so that one write takes the units and records the sale: there is no moment at which one has
// happened without the other. The receipt comes second. A worker that dies in between leaves a sale without a receipt;
// whoever takes the order up again finds the sale in the account and makes up for it.
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
	Token    int64 // of the lease under which it was made; 0 without the lock
}

func (l ledger) accountPath(article string) string { return path.Join(l.root, "stock", article) }
func (l ledger) receiptPath(order string) string   { return path.Join(l.root, "sold", order) }
func (l ledger) lockPath(article string) string    { return path.Join(l.root, "locks", article) }

// open makes a ledger with the initial stock.
func (l ledger) open(ctx context.Context, stock []article) error {
	// Containers would do for the top, which nobody minds losing when it is empty. The ledger itself must stay.
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

// account returns an article's account and the version to write it back with. A reader that holds the lock needs no
// Sync: its server has shown it that the holder before is gone, and with that everything the holder had written.
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

// errFenced means that a later holder of the lock has written already.
var errFenced = errors.New("fencing token is older than the account's")

// record adds a sale to an account that was read at a version.
//
// This is how a resource uses a fencing token: it remembers the largest it has seen and refuses smaller ones. The two
// have to be one step, or an old holder could write in between; here the version sees to that. An old holder that
// comes before the new one's first write may still succeed. Then the new one's version is out of date: it reads again.
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

// confirm gives the customer the receipt for a recorded sale. Doing it again changes nothing.
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

// receipts returns what customers were told.
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

// books reads everything. Others have written it, and told us so by other ways than ZooKeeper: only a Sync makes sure
// that the server we are connected to knows of it too.
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

// remove deletes the ledger and the locks. The locks of dead workers may vanish meanwhile by themselves.
func (l ledger) remove(ctx context.Context) error { return l.removeTree(ctx, l.root) }

func (l ledger) removeTree(ctx context.Context, p string) error {
	for {
		children, _, err := l.client.Children(ctx, p)
		if err != nil {
			return ignoreGone(err)
		}
		for _, child := range children {
			if err := l.removeTree(ctx, path.Join(p, child)); err != nil {
				return err
			}
		}
		err = l.client.Delete(ctx, p, framework.AnyVersion)
		if !errors.Is(err, zk.ErrNotEmpty) { // the last request of a worker that was killed has come in meanwhile
			return ignoreGone(err)
		}
	}
}

func ignoreGone(err error) error {
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}
