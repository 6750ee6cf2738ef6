package snapshot_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/gocurator/curator/debug/snapshot"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/exampletest"
	"github.com/gocurator/curator/recipes/locks"
)

// A program reports which locks it holds.
func ExampleOf() {
	client, _, done := exampletest.Connect(framework.WithServiceName("orders"))
	defer done()
	ctx := context.Background()
	lease, err := locks.NewInterProcessMutex(client, "/locks/sku-42").Acquire(ctx)
	if err != nil {
		panic(err)
	}
	defer lease.Release(ctx)

	for _, c := range snapshot.Of(client).Clients {
		fmt.Println(c.Service, "is", c.State.Name)
		for _, hold := range c.Holds.Items {
			fmt.Println("it holds the", hold.Recipe, hold.Path, hold.Token == lease.FencingToken())
		}
	}
	// Output:
	// orders is connected
	// it holds the mutex /locks/sku-42 true
}

// What a process with very many locks knows of one of them.
func ExampleMatching() {
	client, _, done := exampletest.Connect()
	defer done()
	ctx := context.Background()
	for _, path := range []string{"/locks/sku-41", "/locks/sku-42"} {
		lease, err := locks.NewInterProcessMutex(client, path).Acquire(ctx)
		if err != nil {
			panic(err)
		}
		defer lease.Release(ctx)
	}

	c := snapshot.Matching("sku-42", client).Clients[0]
	fmt.Println(c.Holds.Total, "hold:", c.Holds.Items[0].Path)
	for _, event := range c.Events {
		if event.Kind == "acquired" {
			fmt.Println(event.Kind, event.Path)
		}
	}
	// Output:
	// 1 hold: /locks/sku-42
	// acquired /locks/sku-42
}

// The text is for people, such as in the log of a test that fails. It is full of
// times, so that only the locks are shown here.
func ExampleSnapshot_WriteText() {
	client, _, done := exampletest.Connect(framework.WithServiceName("orders"))
	defer done()
	ctx := context.Background()
	lease, err := locks.NewInterProcessMutex(client, "/locks/sku-42").Acquire(ctx)
	if err != nil {
		panic(err)
	}
	defer lease.Release(ctx)

	var text strings.Builder // a program: os.Stderr
	if err := snapshot.Of(client).WriteText(&text); err != nil {
		panic(err)
	}
	_, holds, _ := strings.Cut(text.String(), "  holds: ")
	holds, _, _ = strings.Cut(holds, "  for ")
	fmt.Println("holds:", holds)
	// Output:
	// holds: 1
	//     /locks/sku-42  mutex
}
