package kratos_test

import (
	"context"
	"fmt"

	"github.com/go-kratos/kratos/v2/registry"

	"github.com/gocurator/curator/internal/exampletest"

	zookeeper "github.com/gocurator/curator/contrib/kratos"
)

// kratos makes these calls for its apps and clients.
func Example() {
	client, srv, done := exampletest.Connect()
	defer done()
	ctx := context.Background()
	r := zookeeper.New(client)
	watcher, err := r.Watch(ctx, "orders")
	if err != nil {
		panic(err)
	}
	defer watcher.Stop()
	watcher.Next() // an empty list

	orders := &registry.ServiceInstance{ID: "a", Name: "orders", Endpoints: []string{"http://10.0.0.7:8000"}}
	if err := r.Register(ctx, orders); err != nil {
		panic(err)
	}
	fmt.Println(srv.Children("/microservices/orders"))
	list, err := watcher.Next()
	fmt.Println(list[0].Endpoints, err)
	fmt.Println(r.Deregister(ctx, orders))
	// Output:
	// [a]
	// [http://10.0.0.7:8000] <nil>
	// <nil>
}
