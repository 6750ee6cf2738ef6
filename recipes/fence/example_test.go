package fence_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes"
	"github.com/gocurator/curator/recipes/fence"
	"github.com/gocurator/curator/testing/zktest"
)

// A holder is stopped, long enough for its session to end and for the next holder to begin. When it runs again it goes on
// where it was, without a look at its lease. Its writes are refused, by the resource that compares tokens, and by
// ZooKeeper, which checks that the lock is still held.
func Example() {
	srv, err := zktest.NewServer()
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	connect := func() *framework.Client {
		c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()))
		if err != nil {
			panic(err)
		}
		return c
	}
	first, second := connect(), connect()
	defer first.Close()
	defer second.Close()
	ctx := context.Background()

	var guard fence.Guard
	var store string
	put := func(lease *recipes.Lease, item string) error {
		return guard.Do(lease.FencingToken(), func() error { store = item; return nil })
	}
	write := func(c *framework.Client, lease *recipes.Lease, item string) error {
		_, err := c.Transaction(ctx, append(lease.Checks(), framework.SetOp("/item", []byte(item), framework.AnyVersion))...)
		return err
	}
	first.Create(ctx, "/item", nil)

	stopped, _ := recipes.NewInterProcessMutex(first, "/lock").Acquire(ctx)
	fmt.Println(put(stopped, "first"), write(first, stopped, "first"))

	srv.ExpireSession(first.SessionID()) // as the servers see it

	next, _ := recipes.NewInterProcessMutex(second, "/lock").Acquire(ctx)
	fmt.Println(put(next, "second"), write(second, next, "second"))

	<-stopped.Context().Done() // which it does not look at
	err = put(stopped, "late")
	fmt.Println(errors.Is(err, fence.ErrStale), store)
	err = write(first, stopped, "late")
	data, _, _ := second.Get(ctx, "/item")
	fmt.Println(errors.Is(err, zk.ErrNoNode), string(data))
	// Output:
	// <nil> <nil>
	// <nil> <nil>
	// true second
	// true second
}
