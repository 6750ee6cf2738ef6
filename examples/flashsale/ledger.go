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
//	<root>/stock/sneaker      the account: the remaining units and every sale
//	<root>/answers/<order>    what the customer knows: a receipt or a refusal
//	<root>/locks/sneaker      the lock that protects the account
//
// The account is a single node, so that one write both takes the units and
// records the sale. The answer is written after the sale. A worker that dies in
// between leaves a sale without a receipt. The process that takes over the order
// finds the sale in the account and writes the receipt.
type ledger struct {
	client *framework.Client
	root   string
}

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

func (l ledger) accountPath() string            { return path.Join(l.root, "stock", article) }
func (l ledger) answerPath(order string) string { return path.Join(l.root, "answers", order) }
func (l ledger) lockPath() string               { return path.Join(l.root, "locks", article) }

// open creates the ledger with the workers' job and the initial stock.
func (l ledger) open(ctx context.Context, job config, units int) error {
	if err := l.create(ctx, l.root, job); err != nil {
		return err
	}
	return l.create(ctx, l.accountPath(), account{Remaining: units})
}

func (l ledger) create(ctx context.Context, path string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = l.client.Create(ctx, path, data, framework.WithParents())
	return err
}

// account returns the account and the version to write it back with. A reader
// that holds the lock needs no Sync: its server has shown that the previous
// holder's node is gone, and so has every write of the previous holder.
func (l ledger) account(ctx context.Context) (a account, version int32, err error) {
	version, err = l.read(ctx, l.accountPath(), &a)
	return a, version, err
}

func (l ledger) read(ctx context.Context, path string, v any) (version int32, err error) {
	data, stat, err := l.client.Get(ctx, path)
	if err != nil {
		return 0, err
	}
	return stat.Version, json.Unmarshal(data, v)
}

// errFenced means that a later holder of the lock has already written.
var errFenced = errors.New("fencing token is older than the account's")

// record adds a sale to an account that was read at the given version.
//
// This is how a resource uses a fencing token: the resource remembers the
// largest token that it has seen and refuses smaller ones. The comparison and
// the write must be one step, or an old holder could write in between. Here the
// version makes them one step. A write of an old holder may still succeed before
// the first write of the new holder. The new holder's version is then out of
// date, and the new holder reads the account again.
func (l ledger) record(ctx context.Context, a account, version int32, s sale) error {
	if s.Token < a.Token {
		return fmt.Errorf("%s: %w: %d after %d", l.accountPath(), errFenced, s.Token, a.Token)
	}
	a.Remaining -= s.Quantity
	a.Token = s.Token
	a.Sales = append(slices.Clip(a.Sales), s)
	data, err := json.Marshal(a)
	if err != nil {
		return err
	}
	_, err = l.client.Set(ctx, l.accountPath(), data, version)
	return err
}

// answer writes the answer to an order, unless the order has an answer.
func (l ledger) answer(ctx context.Context, a answer) error {
	err := l.create(ctx, l.answerPath(a.Order), a)
	if errors.Is(err, zk.ErrNodeExists) {
		return nil
	}
	return err
}

// books reads everything. The exit of the workers tells this process that they
// have written, and only a Sync makes sure that this client's server has the
// workers' writes, too.
func (l ledger) books(ctx context.Context, orders []order) (b books, err error) {
	if err := l.client.Sync(ctx, l.root); err != nil {
		return b, err
	}
	if b.account, _, err = l.account(ctx); err != nil {
		return b, err
	}
	for _, o := range orders {
		var a answer
		_, err := l.read(ctx, l.answerPath(o.ID), &a)
		switch {
		case err == nil:
			b.answers = append(b.answers, a)
		case !errors.Is(err, zk.ErrNoNode): // an order without an answer is found by the audit
			return b, err
		}
	}
	return b, nil
}
