package fencezk_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/exampletest"
	"github.com/gocurator/curator/recipes/fence"
	"github.com/gocurator/curator/recipes/fence/fencezk"
	"github.com/gocurator/curator/recipes/locks"
)

// A holder reads, and loses its lock before it writes. ZooKeeper refuses the write, even
// if no other holder has written.
func Example() {
	client, srv, done := exampletest.Connect()
	defer done()
	ctx := context.Background()
	if _, err := client.Create(ctx, "/stock", []byte("10")); err != nil {
		panic(err)
	}
	lease, err := locks.NewInterProcessMutex(client, "/locks/stock").Acquire(ctx)
	if err != nil {
		panic(err)
	}
	fenced := fencezk.New(client, lease)

	data, stat, err := fenced.Get(ctx, "/stock")
	fmt.Println(string(data), err)
	stat, err = fenced.Set(ctx, "/stock", []byte("9"), stat.Version)
	fmt.Println("version", stat.Version, err)

	if err := srv.Delete(lease.Path()); err != nil { // as an operator does
		panic(err)
	}
	_, err = fenced.Set(ctx, "/stock", []byte("8"), stat.Version)
	fmt.Println(errors.Is(err, fence.ErrStale))

	data, _, err = client.Get(ctx, "/stock")
	fmt.Println(string(data), err)
	// Output:
	// 10 <nil>
	// version 1 <nil>
	// true
	// 9 <nil>
}

// Two instances of a service share a store. After one instance has admitted a token, the
// other refuses smaller tokens.
func ExampleNewStore() {
	one, srv, done := exampletest.Connect()
	defer done()
	other, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()))
	if err != nil {
		panic(err)
	}
	defer other.Close()

	// Package fencehttp and module fencegrpc call Incoming for each request.
	admit := func(service *framework.Client, header string) {
		store := fencezk.NewStore(service, "/app/fences")
		_, err := fence.Incoming(context.Background(), store, "/locks/ledger", []string{header})
		fmt.Println(err)
	}
	admit(one, "7 /locks/ledger/a")
	admit(other, "9 /locks/ledger/b")
	admit(one, "7 /locks/ledger/a")
	// Output:
	// <nil>
	// <nil>
	// stale fencing token: 7 of /locks/ledger/a, after 9 of /locks/ledger/b
}
