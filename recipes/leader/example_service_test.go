package leader_test

import (
	"context"
	"fmt"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/exampletest"
	"github.com/gocurator/curator/recipes/leader"
)

// A service has several processes, and one process works at a time.
func Example() {
	client, _, done := exampletest.Connect()
	defer done()

	err := serve(context.Background(), client, func(context.Context) error {
		fmt.Println("leads")
		return nil
	})
	fmt.Println(err)
	// Output:
	// leads
	// <nil>
}

func serve(ctx context.Context, client *framework.Client, work func(context.Context) error) error {
	latch, err := leader.NewLatch(client, "/reports/leader")
	if err != nil {
		return err
	}
	defer latch.Shutdown(context.WithoutCancel(ctx)) // waits until the node is gone
	err = latch.Lead(ctx, work)                      // calls work each time this process leads
	if ctx.Err() != nil {
		return nil // the service was told to stop, and the work has finished
	}
	return err
}
