package inspect_test

import (
	"context"
	"fmt"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/exampletest"
	"github.com/gocurator/curator/recipes/inspect"
	"github.com/gocurator/curator/recipes/locks"
)

// The program lists all held locks below a path.
func Example() {
	client, _, done := exampletest.Connect()
	defer done()
	ctx := context.Background()
	lease, err := locks.NewInterProcessMutex(client, "/jobs/bill", locks.WithNodeData([]byte("cron on web-1"))).Acquire(ctx)
	if err != nil {
		panic(err)
	}
	defer lease.Release(ctx)

	for r, err := range inspect.Walk(ctx, client, "/jobs") {
		if err != nil {
			panic(err)
		}
		for _, holder := range r.Holders {
			fmt.Println(r.Kind, r.Path, "is held by", holder.ID)
		}
	}
	// Output: mutex /jobs/bill is held by cron on web-1
}

// Two services take two locks in opposite order, and wait for each other forever.
func ExampleWaitGraph() {
	client, srv, done := exampletest.Connect()
	defer done()
	other, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()))
	if err != nil {
		panic(err)
	}
	defer other.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	orders, stock := locks.WithNodeData([]byte("orders")), locks.WithNodeData([]byte("stock"))
	locks.NewInterProcessMutex(client, "/locks/a", orders).Acquire(ctx)
	locks.NewInterProcessMutex(other, "/locks/b", stock).Acquire(ctx)
	go locks.NewInterProcessMutex(client, "/locks/b", orders).Acquire(ctx)
	go locks.NewInterProcessMutex(other, "/locks/a", stock).Acquire(ctx)
	for _, path := range []string{"/locks/a", "/locks/b"} {
		if err := srv.WaitChildren(ctx, path, 2); err != nil {
			panic(err)
		}
	}

	graph, err := inspect.WaitGraph(ctx, client, []string{"/locks"})
	if err != nil {
		panic(err)
	}
	for _, b := range graph.Deadlocks[0].Cycle {
		fmt.Println(b.Waiters[0].ID, "waits for", b.Path, "of", b.Holders[0].ID)
	}
	// Unordered output:
	// orders waits for /locks/b of stock
	// stock waits for /locks/a of orders
}
