package clienttrace_test

import (
	"context"
	"fmt"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/internal/exampletest"
)

// stopwatch prints the operations of a client. A hook receives the events for which it
// has a method.
type stopwatch struct{}

func (stopwatch) EndOperation(_ context.Context, end clienttrace.OperationEnd) {
	fmt.Println(end.Name, end.Path, end.Attempts, end.Err)
}

func Example() {
	client, _, done := exampletest.Connect(framework.WithHooks(stopwatch{}))
	defer done()
	ctx := context.Background()

	client.Create(ctx, "/a", nil)
	client.Get(ctx, "/b")
	// Output:
	// create /a 1 <nil>
	// get /b 1 get /b: zk: node does not exist
}
