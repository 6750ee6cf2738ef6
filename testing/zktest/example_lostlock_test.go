package zktest_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes"
	"github.com/gocurator/curator/testing/zktest"
)

// printReport is the code under test: what it does takes a while, and it may go on only as long as it holds the lock.
func printReport(ctx context.Context, client *framework.Client, print func(ctx context.Context, page int) error) error {
	lease, err := recipes.NewInterProcessMutex(client, "/locks/report").Acquire(ctx)
	if err != nil {
		return err
	}
	defer lease.Release(ctx)
	work, done := lease.Under(ctx)
	defer done()
	for page := 1; page <= 3; page++ {
		if err := print(work, page); err != nil {
			return fmt.Errorf("page %d: %w", page, err)
		}
	}
	return nil
}

// What does a service do that loses its lock in the middle of its work? Here the session ends while the second page is
// being printed. A test would call [zktest.New] with its t, and need not close the server.
func Example_lostLock() {
	srv, err := zktest.NewServer()
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	client, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()))
	if err != nil {
		panic(err)
	}
	defer client.Close()

	printer := func(ctx context.Context, page int) error {
		if page == 2 {
			srv.ExpireSession(client.SessionID())
			<-ctx.Done() // the printer works on until it is told to stop
			return context.Cause(ctx)
		}
		fmt.Println("page", page, "is printed")
		return nil
	}
	err = printReport(context.Background(), client, printer)
	fmt.Println("the lock was lost with the session:", errors.Is(err, framework.ErrSessionLost))
	fmt.Println("contenders left:", len(srv.Children("/locks/report")))

	err = printReport(context.Background(), client, func(context.Context, int) error { return nil })
	fmt.Println("the next attempt, in a new session:", err)
	// Output:
	// page 1 is printed
	// the lock was lost with the session: true
	// contenders left: 0
	// the next attempt, in a new session: <nil>
}
