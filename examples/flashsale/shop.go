package main

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/barriers"
)

// order asks for its whole quantity or nothing.
type order struct {
	ID       string
	Quantity int
	Worker   string
}

// The article that the shop sells, its initial stock, and the orders for it.
const (
	article      = "sneaker"
	initialStock = 100
)

var storyOrders = []order{
	{"order-1", 100, "berlin"}, {"order-2", 100, "lisbon"},
	{"order-3", 100, "oslo"}, {"order-4", 100, "vienna"},
}

// With -crash, the victim is killed, and a second process takes over its order.
const victim, replacement = "berlin", "berlin (process 2)"

// run runs a sale from the opening of the ledger to its audit.
func (c *config) run(ctx context.Context, stage demo.Stage) error {
	client, err := stage.Connect(ctx, framework.WithSessionTimeout(sessionTimeout))
	if err != nil {
		return err
	}
	defer client.Close()
	session, err := client.Session(ctx)
	if err != nil {
		return err
	}
	books := ledger{client, path.Join("/flashsale", rand.Text())}
	printOpening(stage, *c, books.root)
	if err := c.sell(ctx, stage, books); err != nil {
		return err
	}
	b, err := books.books(ctx, storyOrders)
	if err != nil {
		return err
	}
	audit := b.audit(storyOrders, c.Unsafe)
	printReport(stage.Out, *c, session.Timeout(), b, audit)
	if c.Unsafe && audit.oversold() == 0 || !c.Unsafe && !audit.balances() {
		return errors.New("the books are not as expected")
	}
	return nil
}

// sell returns when the workers have answered all orders.
func (c *config) sell(ctx context.Context, stage demo.Stage, books ledger) error {
	if err := books.open(ctx, *c, initialStock); err != nil {
		return err
	}
	if c.Crash != "" {
		if _, err := books.gate().Raise(ctx); err != nil {
			return err
		}
	}
	stage.Servers += books.root // the root of the workers' clients
	workers, stop, err := stage.Start("berlin", "lisbon", "oslo", "vienna")
	if err != nil {
		return err
	}
	defer stop()
	if c.Crash != "" {
		if err := workers[victim].Wait(ctx); err != nil {
			return err
		}
		next, stop, err := stage.Start(replacement)
		if err != nil {
			return err
		}
		defer stop()
		maps.Copy(workers, next)
	}
	for _, p := range workers {
		if err := p.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

// gate holds back the other workers until the victim has the lock.
func (l ledger) gate() *barriers.Barrier {
	return barriers.NewBarrier(l.client, path.Join(l.root, "gate"))
}

// work is a worker process, which answers the order of its worker.
func work(ctx context.Context, name string, client *framework.Client) error {
	books, cfg := ledger{client, "/"}, config{}
	if _, err := books.read(ctx, "/", &cfg); err != nil {
		return err
	}
	s := seller{ledger: books, process: name, think: cfg.Think, reached: func(context.Context, moment) {}}
	if name != replacement {
		// All workers begin together.
		start := barriers.NewDoubleBarrier(client, "/start", len(storyOrders))
		if _, err := start.Enter(ctx); err != nil {
			return err
		}
	}
	if name == victim && cfg.Crash != "" {
		s.reached = func(ctx context.Context, m moment) {
			if m == cfg.Crash {
				die(ctx, books.gate())
			}
		}
	} else if err := books.gate().Wait(ctx); err != nil {
		return err
	}
	sell := s.sell
	if cfg.Unsafe {
		sell = s.sellUnsafe
	}
	i := slices.IndexFunc(storyOrders, func(o order) bool { return strings.HasPrefix(name, o.Worker) })
	_, err := sell(ctx, storyOrders[i])
	return err
}

// die opens the gate and kills this process with SIGKILL: the process cannot
// clean up or close its session.
func die(ctx context.Context, gate *barriers.Barrier) {
	self, err := os.FindProcess(os.Getpid())
	if err == nil && gate.Lower(ctx) == nil && self.Kill() == nil {
		select {}
	}
}
