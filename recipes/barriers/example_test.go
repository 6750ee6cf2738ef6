package barriers_test

import (
	"context"
	"fmt"
	"sync"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/exampletest"
	"github.com/gocurator/curator/recipes/barriers"
)

// Three workers start together, and wait until all three are done.
func Example() {
	client, _, done := exampletest.Connect()
	defer done()
	ctx := context.Background()

	barrier := barriers.NewDoubleBarrier(client, "/benchmark", 3)
	var workers sync.WaitGroup
	for range 3 {
		workers.Go(func() {
			passage, err := barrier.Enter(ctx)
			if err != nil {
				panic(err)
			}
			fmt.Println("working:", passage.Context().Err() == nil)
			if err := passage.Leave(ctx); err != nil {
				panic(err)
			}
		})
	}
	workers.Wait()
	// Output:
	// working: true
	// working: true
	// working: true
}

// A migration makes workers wait. The barrier falls when the migration lowers it or
// crashes.
func ExampleBarrier() {
	client, _, done := exampletest.Connect(framework.WithServiceName("migration"))
	defer done()
	ctx := context.Background()

	barrier := barriers.NewBarrier(client, "/maintenance")
	if _, err := barrier.Raise(ctx, barriers.WithSession()); err != nil {
		panic(err)
	}
	raised, up, err := barrier.Raised(ctx) // a Wait whose context ends returns an error that says it, too
	fmt.Println("up:", up, "by the", raised.By.Service, err)
	if err := barrier.Lower(ctx); err != nil {
		panic(err)
	}
	fmt.Println("wait:", barrier.Wait(ctx))
	// Output:
	// up: true by the migration <nil>
	// wait: <nil>
}
