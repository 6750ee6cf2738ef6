package nodes_test

import (
	"context"
	"fmt"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/exampletest"
	"github.com/gocurator/curator/recipes/nodes"
)

// register makes an instance of a service known until it leaves.
func register(ctx context.Context, client *framework.Client, service, id, address string) (*nodes.GroupMember, error) {
	return nodes.NewGroup(client, "/services/"+service).Join(ctx, id, []byte(address))
}

// followInstances calls use with the addresses of a service's instances as they are, and
// each time that they change, until ctx ends.
func followInstances(ctx context.Context, client *framework.Client, service string, use func(addresses []string)) error {
	for view, err := range nodes.NewGroup(client, "/services/"+service).Changes(ctx) {
		if err != nil {
			return err
		}
		var addresses []string
		for _, instance := range view.Members {
			addresses = append(addresses, string(instance.Payload))
		}
		use(addresses)
	}
	return ctx.Err()
}

// Instances of a service register, and a consumer follows them.
func Example_registry() {
	client, _, done := exampletest.Connect()
	defer done()
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
	defer stop()

	instance, err := register(ctx, client, "orders", "orders-1", "10.0.0.1:80")
	if err != nil {
		panic(err)
	}
	err = followInstances(ctx, client, "orders", func(addresses []string) {
		fmt.Println(addresses)
		switch {
		case len(addresses) == 2:
			err = instance.Leave(ctx)
		case addresses[0] == "10.0.0.1:80":
			_, err = register(ctx, client, "orders", "orders-2", "10.0.0.2:80") // as another process would
		default:
			stop()
		}
		if err != nil {
			panic(err)
		}
	})
	fmt.Println(err)
	// Output:
	// [10.0.0.1:80]
	// [10.0.0.1:80 10.0.0.2:80]
	// [10.0.0.2:80]
	// context canceled
}
