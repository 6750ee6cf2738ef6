package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/atomic"
	"github.com/gocurator/curator/recipes/barriers"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/nodes"
)

const (
	idle  = "idle"   // the payload of a worker that packs nothing yet
	limit = "/limit" // the node with the number of tables
)

// worker is one of several processes that share the orders in /pool/orders. Each living
// worker has a node in /pool/workers, with the order that it has begun last.
type worker struct {
	name   string
	client *framework.Client
	pack   func(ctx context.Context, order string) error

	member *nodes.GroupMember
	pool   *cache.Cache                 // the workers and the orders
	tables *locks.InterProcessSemaphore // orders are packed at tables
}

// run works until ctx ends. If a worker fails, it ends, and other workers take over.
func (w *worker) run(ctx context.Context) (err error) {
	w.tables = locks.NewInterProcessSemaphore(w.client, "/tables", locks.SharedLimit(limit, 2))
	if w.member, err = nodes.NewGroup(w.client, "/pool/workers").Join(ctx, w.name, []byte(idle)); err != nil {
		return err
	}
	defer w.member.Leave(ctx)
	if w.pool, err = cache.New(w.client, "/pool"); err != nil {
		return err
	}
	defer w.pool.Close()
	if err := barriers.NewBarrier(w.client, "/start").Wait(ctx); err != nil {
		return err
	}
	// Wait until the cache has all workers that have joined before the barrier fell.
	if err := w.pool.WaitFor(ctx, w.client.LastZxid()); err != nil {
		return err
	}
	for range w.pool.Changes(ctx) {
		for order, ok := w.next(); ok; order, ok = w.next() {
			if err := w.do(ctx, order); err != nil {
				return err
			}
		}
	}
	return cmp.Or(ctx.Err(), w.pool.Err())
}

// next returns the next order of this worker.
func (w *worker) next() (order string, ok bool) {
	var workers []string
	for node := range w.pool.Children("/pool/workers") {
		workers = append(workers, path.Base(node.Path))
	}
	for node := range w.pool.Children("/pool/orders") {
		if order := path.Base(node.Path); owner(order, workers) == w.name {
			return order, true
		}
	}
	return "", false
}

// owner returns the worker that has the largest hash with an order. If a worker
// leaves, only its own orders change hands (rendezvous hashing).
func owner(order string, workers []string) (owner string) {
	var largest []byte
	for _, worker := range workers {
		if hash := sha256.Sum256([]byte(worker + "/" + order)); bytes.Compare(hash[:], largest) > 0 {
			owner, largest = worker, hash[:]
		}
	}
	return owner
}

// do packs an order at a free table, and replaces the order by an invoice in one
// transaction. If two workers pack the same order, there is only one invoice. If a
// worker dies before the transaction, another worker packs the order again.
func (w *worker) do(ctx context.Context, order string) error {
	err := w.tables.Do(ctx, func(ctx context.Context) error {
		if err := w.member.Update(ctx, []byte(order)); err != nil {
			return err
		}
		if err := w.pack(ctx, order); err != nil {
			return err
		}
		number, err := atomic.NewSequence(w.client, "/numbers").NextDense(ctx)
		if err != nil {
			return err
		}
		_, err = w.client.Transaction(ctx,
			framework.DeleteOp(path.Join("/pool/orders", order), framework.AnyVersion),
			framework.CreateOp(fmt.Sprintf("/invoices/%03d", number), []byte(order+" by "+w.name)))
		if !errors.Is(err, zk.ErrNoNode) { // ErrNoNode: another worker was faster
			return err
		}
		return nil
	})
	if err != nil {
		return err
	}
	return w.pool.WaitFor(ctx, w.client.LastZxid()) // by then, the cache no longer has the order
}
