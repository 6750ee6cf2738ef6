package cache_test

import (
	"context"
	"fmt"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/exampletest"
	"github.com/gocurator/curator/recipes"
	"github.com/gocurator/curator/recipes/cache"
)

// A service reads what it has just registered, from memory, and receives the changes of
// other services.
func Example() {
	client, srv, done := exampletest.Connect()
	defer done()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()

	services, err := cache.New(client, "/services", cache.WithDepth(2))
	if err != nil {
		panic(err)
	}
	defer services.Close()

	made, err := client.Create(ctx, "/services/orders/a", []byte("10.0.0.1:80"), framework.WithParents())
	if err != nil {
		panic(err)
	}
	if err := services.WaitFor(ctx, made.Czxid); err != nil {
		panic(err)
	}
	for node := range services.Children("/services/orders") {
		fmt.Println(node.Path, string(node.Data))
	}

	for change, err := range services.Changes(ctx) {
		if err != nil { // the cache has ended
			panic(err)
		}
		fmt.Printf("%s %q %q\n", change.Type, change.New.Path, change.New.Data)
		if change.Type == cache.Synced {
			srv.Set("/services/orders/a", []byte("10.0.0.2:80")) // somebody else
		}
		if change.Type == cache.Changed {
			break
		}
	}
	// Output:
	// /services/orders/a 10.0.0.1:80
	// created "/services" ""
	// created "/services/orders" ""
	// created "/services/orders/a" "10.0.0.1:80"
	// synced "" ""
	// changed "/services/orders/a" "10.0.0.2:80"
}

// A tool that prints the configuration needs one consistent copy, and no watch.
func ExampleRead() {
	client, _, done := exampletest.Connect()
	defer done()
	ctx := context.Background()
	for _, path := range []string{"/config/db/host", "/config/db/port"} {
		if _, err := client.Create(ctx, path, []byte("of "+path), framework.WithParents()); err != nil {
			panic(err)
		}
	}
	config, err := cache.Read(ctx, client, "/config")
	if err != nil {
		panic(err)
	}
	for node := range config.Children("/config/db") {
		fmt.Println(node.Path, string(node.Data))
	}
	// Output:
	// /config/db/host of /config/db/host
	// /config/db/port of /config/db/port
}

// A service reacts to changes and to a timer in one goroutine.
func ExampleCache_Changes() {
	client, srv, done := exampletest.Connect()
	defer done()
	ctx := context.Background()
	if err := srv.Create("/flags", nil); err != nil {
		panic(err)
	}
	flags, err := cache.New(client, "/flags")
	if err != nil {
		panic(err)
	}
	defer flags.Close()

	changes, stop := recipes.Stream(ctx, flags.Changes)
	defer stop()
	minute := time.NewTicker(time.Minute)
	defer minute.Stop()
	for {
		select {
		case <-minute.C:
			fmt.Println("a minute has passed")
		case change, open := <-changes:
			switch {
			case !open: // the cache has ended, or ctx
				fmt.Println(stop())
				return
			case change.Type == cache.Synced:
				srv.Create("/flags/beta", []byte("on")) // somebody else
			case change.New.Path == "/flags/beta":
				fmt.Println(change.Type, string(change.New.Data))
				return
			}
		}
	}
	// Output:
	// created on
}

// A service rebuilds its routes from each consistent state of the tree.
func ExampleCache_Steps() {
	client, srv, done := exampletest.Connect()
	defer done()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for _, path := range []string{"/routes", "/routes/a", "/routes/b"} {
		if err := srv.Create(path, nil); err != nil {
			panic(err)
		}
	}
	routes, err := cache.New(client, "/routes", cache.WithDepth(1))
	if err != nil {
		panic(err)
	}
	defer routes.Close()

	steps, stop := recipes.Stream(ctx, routes.Steps)
	defer stop()
	select {
	case step := <-steps:
		for _, change := range step.Changes {
			fmt.Println(change.Type, change.New.Path)
		}
		fmt.Println("synced:", step.Synced)
	case <-ctx.Done():
	}
	// Output:
	// created /routes
	// created /routes/a
	// created /routes/b
	// synced: true
}
