package discovery_test

import (
	"context"
	"fmt"

	"github.com/gocurator/curator/internal/exampletest"
	"github.com/gocurator/curator/recipes/discovery"
)

func ExampleNewRegistration() {
	client, srv, done := exampletest.Connect()
	defer done()
	ctx := context.Background()
	r, err := discovery.NewRegistration(client, "/services", discovery.CuratorCodec(), discovery.Instance{
		Service: "orders", ID: "web-1", Address: "10.0.0.7", Port: 8080,
	})
	if err != nil {
		panic(err)
	}
	if _, err := r.WaitRegistered(ctx); err != nil {
		panic(err) // names the instance that has the ID, or why there is no connection
	}
	fmt.Println(srv.Children("/services/orders"))
	fmt.Println(r.Drain(ctx), r.Shutdown(ctx)) // first no new requests, and then away
	fmt.Println(srv.Children("/services/orders"))
	// Output:
	// [web-1]
	// <nil> <nil>
	// []
}

func ExampleNewDirectory() {
	client, srv, done := exampletest.Connect()
	defer done()
	ctx := context.Background()
	srv.Create("/services/orders/web-1", []byte(`{"name":"orders","id":"web-1","address":"10.0.0.7","port":8080}`))
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
	// Output:
	// web-1 10.0.0.7 8080
}
