// Workers is a pool of processes that share work. One of them is killed with
// kill -9 while it works, and the others take over.
//
//	go run ./examples/workers
//
// The part to copy is worker.go. A nodes.Group and a cache tell who is there and
// whose turn it is; a semaphore with a shared limit, how many may work at once.
// An atomic.Sequence numbers the results. A barrier lets all start together.
//
// The exit status is 0 if all work was done once, 1 if not or if something
// failed, and 2 for wrong arguments.
package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/barriers"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/nodes"
)

func main() {
	demo.RunIfWorker(runWorker)
	demo.Main("workers", runStory)
}

// runWorker is a worker process. Nobody can pack while the warehouse is closed.
func runWorker(ctx context.Context, name string, client *framework.Client) error {
	pack := func(ctx context.Context, _ string) error { return barriers.NewBarrier(client, "/closed").Wait(ctx) }
	return (&worker{name: name, client: client, pack: pack}).run(ctx)
}

const orders = 24

var names = []string{"berlin", "lisbon", "oslo", "rome"}

// runStory lets workers share the orders, and kills one of them.
func runStory(ctx context.Context, stage demo.Stage) error {
	if _, err := stage.Client.Create(ctx, "/invoices", nil); err != nil {
		return err
	}
	for i := range orders {
		if _, err := stage.Client.Create(ctx, fmt.Sprintf("/pool/orders/%02d", i), nil, framework.WithPersistentParents()); err != nil {
			return err
		}
	}
	for _, barrier := range []string{"/start", "/closed"} {
		if _, err := barriers.NewBarrier(stage.Client, barrier).Raise(ctx); err != nil {
			return err
		}
	}
	processes, stop, err := stage.Start(names...)
	if err != nil {
		return err
	}
	defer stop()
	victim, err := killOne(ctx, stage, processes)
	if err != nil {
		return err
	}
	return audit(ctx, stage, victim)
}

// killOne has two workers pack, kills one of them, and has the others pack.
func killOne(ctx context.Context, stage demo.Stage, processes map[string]*demo.Process) (victim string, err error) {
	for view, err := range nodes.NewGroup(stage.Client, "/pool/workers").Changes(ctx) {
		var packing []string
		for _, worker := range view.Members {
			if string(worker.Payload) != idle && worker.ID != victim {
				packing = append(packing, worker.ID)
			}
		}
		switch {
		case victim == "" && len(packing) == 0 && len(view.Members) == len(names):
			fmt.Fprintln(stage.Out, "All workers have joined. The barrier falls.")
			err = barriers.NewBarrier(stage.Client, "/start").Lower(ctx)
		case victim == "" && len(packing) == 2:
			victim = packing[0]
			fmt.Fprintln(stage.Out, "Two workers pack, at two tables.", victim, "is killed. There are two more tables.")
			processes[victim].Kill()
			err = locks.SetSharedLimit(ctx, stage.Client, limit, 4)
		case victim != "" && len(packing) == 3:
			fmt.Fprintln(stage.Out, "All others pack. The warehouse opens.")
			return victim, barriers.NewBarrier(stage.Client, "/closed").Lower(ctx)
		}
		if err != nil {
			return "", err
		}
	}
	return "", context.Cause(ctx)
}

// audit waits until each order is packed, and has an invoice.
func audit(ctx context.Context, stage demo.Stage, victim string) error {
	invoices, err := cache.New(stage.Client, "/invoices")
	if err != nil {
		return err
	}
	defer invoices.Close()
	packed := map[string]bool{}
	for change, err := range invoices.Changes(ctx) {
		if err != nil {
			return err
		}
		order, by, isInvoice := strings.Cut(string(change.New.Data), " by ")
		switch {
		case !isInvoice:
			continue
		case packed[order] || by == victim:
			return fmt.Errorf("order %s was packed again, or by the dead: by %s", order, by)
		case owner(order, names) == victim:
			fmt.Fprintf(stage.Out, "%s has packed order %s instead of %s\n", by, order, victim)
		}
		packed[order] = true
		if len(packed) == orders {
			fmt.Fprintf(stage.Out, "all %d orders are packed, with one invoice each\n", orders)
			return nil
		}
	}
	return context.Cause(ctx)
}
