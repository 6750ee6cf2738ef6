package discovery_test

import (
	"context"
	"fmt"

	"github.com/gocurator/curator/internal/exampletest"
	"github.com/gocurator/curator/recipes/discovery"
)

// An instance registers, a client finds it, and the instance leaves.
func Example() {
	client, _, done := exampletest.Connect()
	defer done()
	ctx := context.Background()
	r, err := discovery.NewRegistration(client, "/services", discovery.CuratorCodec(), discovery.Instance{
		Service: "orders", ID: "web-1", Address: "10.0.0.7", Port: 8080,
	})
	if err != nil {
		panic(err)
	}

	orders, err := discovery.NewDirectory(client, "/services", discovery.CuratorCodec(), "orders")
	if err != nil {
		panic(err)
	}
	defer orders.Close()
	if err := orders.WaitInstances(ctx, 1); err != nil {
		panic(err)
	}
	for _, i := range orders.Instances() {
		fmt.Println(i.ID, i.Address, i.Port)
	}

	fmt.Println(r.Drain(ctx), r.Shutdown(ctx)) // clients first pick other instances
	// Output:
	// web-1 10.0.0.7 8080
	// <nil> <nil>
}
