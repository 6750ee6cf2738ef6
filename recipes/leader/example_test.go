package leader_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/gocurator/curator/internal/exampletest"
	"github.com/gocurator/curator/recipes"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

func ExampleLatch() {
	client, _, done := exampletest.Connect()
	defer done()
	ctx := context.Background()

	// Each instance of the service has one latch. Here, both instances are in
	// one process.
	first, err := leader.NewLatch(client, "/leader", leader.WithID("worker-1"))
	fmt.Println(err)
	lease, err := first.WaitLeadership(ctx)
	fmt.Println("worker-1 leads:", lease.Context().Err() == nil, err)

	second, err := leader.NewLatch(client, "/leader", leader.WithID("worker-2"))
	fmt.Println(err)
	defer second.Shutdown(ctx)

	// Leader tells every candidate who leads. Observe tells those who do not
	// stand.
	leading, err := second.Leader(ctx)
	fmt.Println("leader:", leading.ID(), err)

	fmt.Println(first.Shutdown(ctx))
	fmt.Println(context.Cause(lease.Context()))
	next, err := second.WaitLeadership(ctx)
	fmt.Println("worker-2 leads:", next.Context().Err() == nil, err)
	fmt.Println("token grows:", next.FencingToken() > lease.FencingToken())
	// Output:
	// <nil>
	// worker-1 leads: true <nil>
	// <nil>
	// leader: worker-1 <nil>
	// <nil>
	// lease released
	// worker-2 leads: true <nil>
	// token grows: true
}

// The service stops when its context ends. The work finishes, and then another
// instance leads.
func ExampleLatch_Lead() {
	client, _, done := exampletest.Connect()
	defer done()
	ctx, stop := context.WithCancel(context.Background()) // a service gets it from signal.NotifyContext

	latch, err := leader.NewLatch(client, "/leader")
	fmt.Println(err)
	err = latch.Lead(ctx, func(ctx context.Context) error {
		lease, ok := locks.LeaseFromContext(ctx)
		fmt.Println("leading:", ok && lease.FencingToken() > 0)
		stop()
		<-ctx.Done()
		fmt.Println("finishing")
		return nil
	})
	fmt.Println(errors.Is(err, context.Canceled))
	fmt.Println(latch.Shutdown(context.Background()))
	// Output:
	// <nil>
	// leading: true
	// finishing
	// true
	// <nil>
}

// The end of the context tells the leader's work to stop. The work has time to
// finish.
func ExampleLatch_HandOver() {
	client, srv, done := exampletest.Connect()
	defer done()
	ctx := context.Background()
	first, err := leader.NewLatch(client, "/leader")
	fmt.Println(err)
	lease, err := first.WaitLeadership(ctx)
	fmt.Println("first leads:", lease.Context().Err() == nil, err)
	working := make(chan struct{})
	go first.Lead(ctx, func(ctx context.Context) error {
		close(working)
		<-ctx.Done()
		fmt.Println("finishing:", context.Cause(ctx))
		return nil
	})
	<-working
	second, err := leader.NewLatch(client, "/leader")
	fmt.Println(err)
	defer second.Shutdown(ctx)
	srv.WaitChildren(ctx, "/leader", 2) // the second latch is in line

	// On SIGTERM the hand-over gets a new context, since the service's context may have
	// ended.
	shutdown, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err = first.HandOver(shutdown) // the service stops even on ErrNotLeader or ErrNoSuccessor
	fmt.Println("handed over:", err)
	fmt.Println("shut down:", first.Shutdown(shutdown))

	next, err := second.WaitLeadership(ctx)
	fmt.Println("second leads:", next.Context().Err() == nil, err)
	// Output:
	// <nil>
	// first leads: true <nil>
	// <nil>
	// finishing: lock revoked
	// handed over: <nil>
	// shut down: <nil>
	// second leads: true <nil>
}

func ExampleSelector() {
	client, _, done := exampletest.Connect()
	defer done()

	ctx, cancel := context.WithCancel(context.Background())
	leaderships := 0
	selector := leader.NewSelector(client, "/leader", leader.WithRequeue(func(err error) bool {
		fmt.Println("the leadership ended with:", err)
		return true
	}))
	err := selector.Run(ctx, func(ctx context.Context) error {
		leaderships++
		if leaderships == 3 {
			cancel() // the service stops
		}
		lease, _ := locks.LeaseFromContext(ctx)
		fmt.Println("leading, with a token:", lease.FencingToken() > 0)
		return nil
	})
	fmt.Println(err)
	// Output:
	// leading, with a token: true
	// the leadership ended with: <nil>
	// leading, with a token: true
	// the leadership ended with: <nil>
	// leading, with a token: true
	// <nil>
}

// A router sends work to the leader, and stops when it is told to.
func ExampleObserve() {
	client, _, done := exampletest.Connect()
	defer done()
	ctx := context.Background()
	latch, err := leader.NewLatch(client, "/leader", leader.WithID("10.0.0.7:80"))
	fmt.Println(err)
	defer latch.Shutdown(ctx)

	quit := make(chan struct{})
	leaders, stop := recipes.Latest(ctx, func(ctx context.Context) iter.Seq2[locks.Participant, error] {
		return leader.Observe(ctx, client, "/leader")
	})
	defer stop()
	for {
		select {
		case now, open := <-leaders:
			switch {
			case !open: // ctx has ended, or the observer with an error
				fmt.Println(stop())
				return
			case now.Path != "": // otherwise nobody leads yet
				fmt.Println("route to", now.ID())
				close(quit)
			}
		case <-quit:
			fmt.Println("stopped:", stop())
			return
		}
	}
	// Output:
	// <nil>
	// route to 10.0.0.7:80
	// stopped: <nil>
}

// A process that does not stand asks who leads, before it sends a request there.
func ExampleNow() {
	client, _, done := exampletest.Connect()
	defer done()
	ctx := context.Background()
	_, err := leader.Now(ctx, client, "/leader")
	fmt.Println(errors.Is(err, leader.ErrNoLeader))

	latch, err := leader.NewLatch(client, "/leader", leader.WithID("10.0.0.7:80"))
	fmt.Println(err)
	defer latch.Shutdown(ctx)
	_, err = latch.WaitLeadership(ctx)
	fmt.Println(err)
	now, err := leader.Now(ctx, client, "/leader")
	fmt.Println(now.ID(), err)
	// Output:
	// true
	// <nil>
	// <nil>
	// 10.0.0.7:80 <nil>
}
