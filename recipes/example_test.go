package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes"
	"github.com/gocurator/curator/testing/zktest"
)

// connectForExample returns a client of a server in this process. A service would name its ensemble instead:
// framework.New("zk1:2181,zk2:2181,zk3:2181").
func connectForExample() (c *framework.Client, srv *zktest.Server, done func()) {
	srv, err := zktest.NewServer()
	if err != nil {
		panic(err)
	}
	c, err = framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()))
	if err != nil {
		panic(err)
	}
	return c, srv, func() {
		c.Close()
		srv.Close()
	}
}

func ExampleInterProcessMutex() {
	client, _, done := connectForExample()
	defer done()

	stock := 100
	sell := func(ctx context.Context, units int) error {
		mutex := recipes.NewInterProcessMutex(client, "/locks/sku-42")
		lease, err := mutex.Acquire(ctx)
		if err != nil {
			return err
		}
		defer lease.Release(ctx)

		if stock < units {
			return errors.New("sold out")
		}
		stock -= units
		return nil
	}

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	fmt.Println(sell(ctx, 100))
	fmt.Println(sell(ctx, 100))
	// Output:
	// <nil>
	// sold out
}

// What becomes of a holder whose session is lost.
func ExampleLease_Context() {
	client, srv, done := connectForExample()
	defer done()
	ctx := context.Background()

	lease, err := recipes.NewInterProcessMutex(client, "/locks/sku-42").Acquire(ctx)
	if err != nil {
		panic(err)
	}
	srv.ExpireSession(client.SessionID())

	<-lease.Context().Done()
	fmt.Println(context.Cause(lease.Context()))
	fmt.Println(errors.Is(lease.Release(ctx), framework.ErrSessionLost))
	// Output:
	// session lost: the server has ended it
	// true
}

func ExampleInterProcessMutex_TryAcquire() {
	client, _, done := connectForExample()
	defer done()
	ctx := context.Background()
	mutex := recipes.NewInterProcessMutex(client, "/locks/nightly-report")

	lease, err := mutex.TryAcquire(ctx)
	if err != nil {
		panic(err)
	}
	defer lease.Release(ctx)

	_, err = mutex.TryAcquire(ctx)
	fmt.Println(errors.Is(err, recipes.ErrNotAcquired))

	// Under the lease's context the lock is re-entered.
	again, err := mutex.TryAcquire(lease.Context())
	fmt.Println(again.FencingToken() == lease.FencingToken(), err)
	again.Release(ctx)
	// Output:
	// true
	// true <nil>
}
