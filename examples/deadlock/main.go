// Deadlock has two services that take the same two locks in opposite orders. Each
// service gets its first lock and waits for ever for the other service's lock. No
// call fails, and no log has a line. Package inspect finds the deadlock in the
// locks' nodes and names both services, as the command "zklock graph" does.
//
//	go run ./examples/deadlock
//
// The function lockOneByOne has the mistake, lockInOrder has the cure, and
// findDeadlock works in any process that can read the nodes. The ZooKeeper server
// of the program is in memory.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/inspect"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// The locks of a shop.
const (
	root     = "/deadlock"
	stock    = root + "/stock"
	accounts = root + "/accounts"
)

// lockOneByOne takes one lock, calls a function, and takes the other lock.
// That is the mistake: another service may take the locks in the other order.
func lockOneByOne(ctx context.Context, client *framework.Client, first, second string, between func()) error {
	return locks.NewInterProcessMutex(client, first).Do(ctx, func(ctx context.Context) error {
		between()
		return locks.NewInterProcessMutex(client, second).Do(ctx, func(context.Context) error { return nil })
	})
}

// lockInOrder takes both locks in the order of their paths, whatever the order of
// the arguments is.
func lockInOrder(ctx context.Context, client *framework.Client, paths ...string) error {
	both := locks.NewInterProcessMultiLock(locks.SortedMutexes(client, paths)...)
	lease, err := both.Acquire(ctx)
	if err != nil {
		return err
	}
	return lease.Release(context.WithoutCancel(ctx))
}

// findDeadlock reads the locks each time that a node below root changes, until
// there is a deadlock.
func findDeadlock(ctx context.Context, client *framework.Client) (inspect.Deadlock, error) {
	for _, err := range client.Watch(ctx, root, framework.WithRecursion()) {
		if err != nil {
			return inspect.Deadlock{}, err
		}
		graph, err := inspect.WaitGraph(ctx, client, []string{root})
		if err != nil {
			return inspect.Deadlock{}, err
		}
		if len(graph.Deadlocks) > 0 {
			return graph.Deadlocks[0], nil
		}
	}
	return inspect.Deadlock{}, context.Cause(ctx)
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

// run makes the deadlock, finds it, ends it, and shows the cure.
func run(ctx context.Context, srv *zktest.Server, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	clients := map[string]*framework.Client{}
	for _, name := range []string{"orders", "billing", "observer"} {
		client, err := framework.Connect(ctx, srv.Addr(),
			framework.WithDialer(srv.Dialer()), framework.WithServiceName(name))
		if err != nil {
			return err
		}
		defer client.Close()
		clients[name] = client
	}
	orders, billing, observer := clients["orders"], clients["billing"], clients["observer"]
	if _, err := observer.Create(ctx, root, nil); err != nil {
		return err
	}

	// Both services have their first lock before either asks for its second.
	meet := make(chan struct{})
	between := func() {
		select {
		case meet <- struct{}{}:
		case <-meet:
		case <-ctx.Done():
		}
	}
	patience, giveUp := context.WithCancel(ctx)
	defer giveUp()
	ordersDone, billingDone := make(chan error, 1), make(chan error, 1)
	go func() { ordersDone <- lockOneByOne(ctx, orders, stock, accounts, between) }()
	go func() { billingDone <- lockOneByOne(patience, billing, accounts, stock, between) }()

	deadlock, err := findDeadlock(ctx, observer)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "DEADLOCK of %d processes\n", len(deadlock.Processes))
	for i, wait := range deadlock.Cycle {
		holder := deadlock.Processes[(i+1)%len(deadlock.Processes)]
		fmt.Fprintf(out, "  %s waits for %s %s, which %s holds\n", deadlock.Processes[i], wait.Kind, wait.Path, holder)
	}

	giveUp()
	if err := <-billingDone; !errors.Is(err, context.Canceled) {
		return fmt.Errorf("billing did not give up: %w", err)
	}
	if err := <-ordersDone; err != nil {
		return err
	}
	fmt.Fprintln(out, "billing gives up, and orders gets both locks")

	const rounds = 50
	repeat := func(client *framework.Client, paths ...string) {
		var err error
		for i := 0; i < rounds && err == nil; i++ {
			err = lockInOrder(ctx, client, paths...)
		}
		ordersDone <- err
	}
	go repeat(orders, stock, accounts)
	go repeat(billing, accounts, stock)
	if err := errors.Join(<-ordersDone, <-ordersDone); err != nil {
		return err
	}
	fmt.Fprintf(out, "with SortedMutexes, each service locks both %d times\n", rounds)
	return nil
}
