package cache_test

import (
	"context"
	"fmt"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/exampletest"
	"github.com/gocurator/curator/recipes/cache"
)

// A service reads what it has just registered, from memory, and hears of others.
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
