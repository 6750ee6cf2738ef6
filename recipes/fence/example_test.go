package fence_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/fence"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// A holder is stopped for so long that its session ends and the next holder
// begins. When it runs again, it goes on without a look at its lease. Two
// resources refuse its writes: a store, because it compares tokens, and
// ZooKeeper, because it checks that the lock is still held.
func Example() {
	srv, err := zktest.Run()
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
	put := func(lease *locks.Lease, item string) error {
		return guard.Do(lease.FencingToken(), func() error { store = item; return nil })
	}
	write := func(c *framework.Client, lease *locks.Lease, item string) error {
		set := framework.SetOp("/item", []byte(item), framework.AnyVersion)
		_, err := c.Transaction(ctx, append(lease.Checks(), set)...)
		return err
	}
	first.Create(ctx, "/item", nil)

	stopped, _ := locks.NewInterProcessMutex(first, "/lock").Acquire(ctx)
	fmt.Println(put(stopped, "first"), write(first, stopped, "first"))

	srv.Session(first.SessionID()).Expire() // the servers end the session

	next, _ := locks.NewInterProcessMutex(second, "/lock").Acquire(ctx)
	fmt.Println(put(next, "second"), write(second, next, "second"))

	<-stopped.Context().Done() // the stopped holder does not look at this
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
