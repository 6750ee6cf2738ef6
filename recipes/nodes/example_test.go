package nodes_test

import (
	"context"
	"fmt"

	"github.com/gocurator/curator/internal/exampletest"
	"github.com/gocurator/curator/recipes/nodes"
)

// A worker joins a group, and an observer follows the group.
func Example() {
	client, _, done := exampletest.Connect()
	defer done()
	ctx := context.Background()

	workers := nodes.NewGroup(client, "/workers")
	member, err := workers.Join(ctx, "w-1", []byte("idle"))
	if err != nil {
		panic(err)
	}
	for view, err := range workers.Changes(ctx) {
		if err != nil {
			panic(err)
		}
		switch {
		case len(view.Joined) > 0:
			fmt.Printf("%s joined: %s\n", view.Joined[0].ID, view.Joined[0].Payload)
			err = member.Update(ctx, []byte("busy"))
		case len(view.Updated) > 0:
			fmt.Printf("%s is now: %s\n", view.Updated[0].ID, view.Updated[0].Payload)
			err = member.Leave(ctx)
		case len(view.Left) > 0:
			fmt.Printf("%s left, %d members\n", view.Left[0].ID, len(view.Members))
			return
		}
		if err != nil {
			panic(err)
		}
	}
	// Output:
	// w-1 joined: idle
	// w-1 is now: busy
	// w-1 left, 0 members
}
