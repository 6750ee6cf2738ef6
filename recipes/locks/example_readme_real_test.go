//go:build real

package locks_test

import (
	"context"
	"fmt"
	"os"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/exampletest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// The program of README.md, with a server on a port.
func Example_program() {
	srv, err := zktest.Run(zktest.WithTCP("127.0.0.1:0"))
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	os.Setenv("ZOOKEEPER", srv.Addr())
	defer os.Unsetenv("ZOOKEEPER")

	main()
	// Output:
	// wrote page 1
	// wrote page 2
	// wrote page 3
}

// stock is a resource that refuses old fencing tokens, as package fence does.
type stock struct{ units int }

func (s *stock) Sell(_ context.Context, _ int64, units int) error {
	s.units -= units
	return nil
}

// A held lock is a lease. Work runs under the context of the lease.
func Example_lease() {
	client, _, done := exampletest.Connect()
	defer done()
	stock := &stock{units: 100}

	fmt.Println(sell(context.Background(), client, stock), stock.units)
	// Output:
	// <nil> 58
}

func sell(ctx context.Context, client *framework.Client, stock *stock) error {
	mutex := locks.NewInterProcessMutex(client, "/locks/sku-42")
	lease, err := mutex.Acquire(ctx) // waits until ctx ends
	if err != nil {
		return err
	}
	defer lease.Release(ctx) // also right when ctx has ended

	work, done := lease.WithContext(ctx) // ends with the lease, and with ctx
	defer done()
	return stock.Sell(work, lease.FencingToken(), 42)
}
