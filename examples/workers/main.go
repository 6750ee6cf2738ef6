// Workers is a pool of processes that share work. One worker crashes while it works,
// and the other workers take its work over.
//
//	go run ./examples/workers
//
// The type worker is the part to copy. A nodes.Group and a cache.Cache say which
// workers and which orders there are. A semaphore with a shared limit says how many
// workers may pack at the same time. An atomic.Sequence numbers the invoices, and a
// barrier lets all workers start together. The ZooKeeper server of the program is in
// memory. The workers are goroutines, each with its own client.
package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/atomic"
	"github.com/gocurator/curator/recipes/barriers"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/testing/zktest"
)

const (
	idle  = "idle"   // the payload of a worker that has packed nothing yet
	limit = "/limit" // the node with the number of tables
)

// worker is one of several processes that share the orders in /pool/orders. Living
// workers are in /pool/workers, each with the order that it began last.
type worker struct {
	name   string
	client *framework.Client
	member *nodes.GroupMember
	pool   *cache.Cache                 // the workers and the orders
	tables *locks.InterProcessSemaphore // a worker packs at a table
}

// run works until ctx is done. A worker that fails ends, and other workers take over.
func (w *worker) run(ctx context.Context) (err error) {
	w.tables = locks.NewInterProcessSemaphore(w.client, "/tables", locks.SharedLimit(limit, 2))
	if w.member, err = nodes.NewGroup(w.client, "/pool/workers").Join(ctx, w.name, []byte(idle)); err != nil {
		return err
	}
	defer w.member.Leave(context.WithoutCancel(ctx))
	if w.pool, err = cache.New(w.client, "/pool"); err != nil {
		return err
	}
	defer w.pool.Close()
	if err := barriers.NewBarrier(w.client, "/start").Wait(ctx); err != nil {
		return err
	}
	// Wait until the cache has all workers that joined before the barrier fell.
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

// do packs an order when a table is free, and replaces the order by an invoice in one
// transaction. If two workers pack the same order, there is one invoice. If a worker
// dies before the transaction, another worker packs the order again.
func (w *worker) do(ctx context.Context, order string) error {
	err := w.tables.Do(ctx, func(ctx context.Context) error {
		if err := w.member.Update(ctx, []byte(order)); err != nil {
			return err
		}
		pause(ctx, time.Second/2) // packs
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
	return w.pool.WaitFor(ctx, w.client.LastZxid()) // the pool then lacks the order
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	srv, err := zktest.Run()
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	if err := run(ctx, srv, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// run lets four workers share the orders, and crashes one of the workers.
func run(ctx context.Context, srv *zktest.Server, out io.Writer) error {
	const orders = 24
	names := []string{"berlin", "lisbon", "oslo", "rome"}
	for i := range orders {
		if err := srv.Create(fmt.Sprintf("/pool/orders/%02d", i), nil); err != nil {
			return err
		}
	}
	if err := errors.Join(srv.Create("/invoices", nil), srv.Create("/start", nil)); err != nil { // a raised barrier
		return err
	}
	var running sync.WaitGroup
	defer running.Wait()
	hosts, workers := map[string]*zktest.Host{}, map[string]*worker{}
	for _, name := range names {
		hosts[name] = srv.NewHost()
		client, err := framework.Connect(ctx, srv.Addr(),
			framework.WithDialer(hosts[name].Dialer()), framework.WithSessionTimeout(5*time.Second))
		if err != nil {
			return err
		}
		defer client.Close() // ends the worker
		w := &worker{name: name, client: client}
		workers[name] = w
		running.Go(func() { _ = w.run(ctx) })
	}
	if err := srv.WaitChildren(ctx, "/pool/workers", len(names)); err != nil {
		return err
	}
	fmt.Fprintln(out, "Four workers have joined. The barrier falls.")
	client := workers["rome"].client
	if err := barriers.NewBarrier(client, "/start").Lower(ctx); err != nil {
		return err
	}
	pause(ctx, time.Second/4)
	members, err := nodes.NewGroup(client, "/pool/workers").Members(ctx)
	if err != nil {
		return err
	}
	var packing []string
	for _, m := range members {
		if string(m.Payload) != idle {
			packing = append(packing, m.ID)
		}
	}
	if len(packing) != 2 {
		return fmt.Errorf("%d workers pack at two tables", len(packing))
	}
	victim := packing[0]
	fmt.Fprintf(out, "%s and %s pack, at two tables. %s crashes. There are two more tables.\n", victim, packing[1], victim)
	hosts[victim].Disconnect()
	workers[victim].client.Close()
	if err := locks.SetSharedLimit(ctx, client, limit, 4); err != nil {
		return err
	}
	if err := srv.WaitChildren(ctx, "/pool/orders", 0); err != nil {
		return err
	}
	for _, name := range srv.Children("/invoices") {
		invoice, _ := srv.Node("/invoices/" + name)
		order, by, _ := strings.Cut(string(invoice.Data), " by ")
		if whose := owner(order, names); whose != by {
			fmt.Fprintf(out, "%s has packed order %s instead of %s.\n", by, order, whose)
		}
	}
	fmt.Fprintf(out, "%d orders have %d invoices.\n", orders, len(srv.Children("/invoices")))
	return nil
}
