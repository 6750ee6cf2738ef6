package locks_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/exampletest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/shared"
	"github.com/gocurator/curator/testing/zktest"
)

// Goods are sold by one process at a time.
func Example() {
	client, _, done := exampletest.Connect()
	defer done()

	stock := 100
	sell := func(ctx context.Context, units int) error {
		mutex := locks.NewInterProcessMutex(client, "/locks/sku-42")
		lease, err := mutex.Acquire(ctx) // ctx bounds the wait, not the lease
		if err != nil {
			return err
		}
		defer lease.Release(ctx)

		work, done := lease.WithContext(ctx) // ends with the lease, and with ctx
		defer done()
		if stock < units {
			return errors.New("sold out")
		}
		stock -= units             // a database would compare lease.FencingToken()
		return context.Cause(work) // the reason if the lock was lost meanwhile
	}

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	fmt.Println(sell(ctx, 100))
	fmt.Println(sell(ctx, 100))
	// Output:
	// <nil>
	// sold out
}

// The context of a lease ends when the session of the holder is lost, and its
// cause says why.
func ExampleLease_Context() {
	client, srv, done := exampletest.Connect()
	defer done()
	ctx := context.Background()

	lease, err := locks.NewInterProcessMutex(client, "/locks/sku-42").Acquire(ctx)
	if err != nil {
		panic(err)
	}
	srv.Session(client.SessionID()).Expire()

	<-lease.Context().Done()
	fmt.Println(context.Cause(lease.Context()))
	fmt.Println(errors.Is(lease.Release(ctx), framework.ErrSessionLost))
	// Output:
	// session lost: the server has ended it
	// true
}

func ExampleInterProcessMutex_TryAcquire() {
	client, _, done := exampletest.Connect()
	defer done()
	ctx := context.Background()
	mutex := locks.NewInterProcessMutex(client, "/locks/nightly-report")

	lease, err := mutex.TryAcquire(ctx)
	if err != nil {
		panic(err)
	}
	defer lease.Release(ctx)

	_, err = mutex.TryAcquire(ctx)
	fmt.Println(errors.Is(err, locks.ErrNotAcquired))

	// An acquire under the lease's context re-enters the lock.
	again, err := mutex.TryAcquire(lease.Context())
	fmt.Println(again.FencingToken() == lease.FencingToken(), err)
	again.Release(ctx)
	// Output:
	// true
	// true <nil>
}

// Checks are the strongest guard for data in ZooKeeper itself: the server
// carries out the write only if the writer still holds the lock.
func ExampleLease_Checks() {
	client, _, done := exampletest.Connect()
	defer done()
	ctx := context.Background()
	if _, err := client.Create(ctx, "/stock", []byte("100")); err != nil {
		panic(err)
	}
	lease, err := locks.NewInterProcessMutex(client, "/locks/stock").Acquire(ctx)
	if err != nil {
		panic(err)
	}
	sell := func(left string) error {
		write := framework.SetOp("/stock", []byte(left), framework.AnyVersion)
		_, err := client.Transaction(ctx, append(lease.Checks(), write)...)
		return err
	}

	fmt.Println(sell("99"))
	lease.Release(ctx)
	fmt.Println(errors.Is(sell("98"), zk.ErrNoNode))
	// Output:
	// <nil>
	// true
}

// A directory is locked by its own path, so its children are data and contenders.
func ExampleIsContender() {
	client, _, done := exampletest.Connect()
	defer done()
	ctx := context.Background()
	for _, path := range []string{"/cells/zone1", "/cells/zone2"} {
		_, err := client.Create(ctx, path, nil, framework.WithParents())
		fmt.Println(err)
	}
	err := locks.NewInterProcessMutex(client, "/cells").Do(ctx, func(ctx context.Context) error {
		names, _, err := client.Children(ctx, "/cells")
		slices.Sort(names)
		fmt.Println(len(names), slices.DeleteFunc(names, locks.IsContender))
		return err
	})
	fmt.Println(err)
	// Output:
	// <nil>
	// <nil>
	// 3 [zone1 zone2]
	// <nil>
}

// Python processes that use kazoo's Lock keep running while Go processes replace them one
// by one.
func ExampleWithKazooNames() {
	client, _, done := exampletest.Connect()
	defer done()
	ctx := context.Background()
	mutex := locks.NewInterProcessMutex(client, "/locks/report", locks.WithKazooNames())
	err := mutex.Do(ctx, func(ctx context.Context) error {
		names, _, err := client.Children(ctx, "/locks/report")
		_, name, _ := strings.Cut(names[0], "__")
		fmt.Println(len(names), "__"+name)
		return err
	})
	fmt.Println(err)
	// Output:
	// 1 __lock__0000000000
	// <nil>
}

// A writer becomes a reader. Other readers get the lock then, but no other writer.
func ExampleInterProcessReadWriteLock() {
	client, _, done := exampletest.Connect()
	defer done()
	ctx := context.Background()
	prices := locks.NewInterProcessReadWriteLock(client, "/locks/prices")

	writer, err := prices.WriteLock().Acquire(ctx)
	if err != nil {
		panic(err)
	}
	reader, err := prices.ReadLock().Acquire(writer.Context()) // under the writer's lease
	fmt.Println(err, writer.Release(ctx))

	_, err = prices.WriteLock().TryAcquire(ctx)
	fmt.Println(errors.Is(err, locks.ErrNotAcquired))
	_, err = prices.WriteLock().TryAcquire(reader.Context())
	fmt.Println(errors.Is(err, locks.ErrUpgrade), reader.Release(ctx))
	// Output:
	// <nil> <nil>
	// true
	// true <nil>
}

// The semaphore allows two payments at a time, in all processes together, until a process
// raises the limit.
func ExampleInterProcessSemaphore() {
	client, _, done := exampletest.Connect()
	defer done()
	ctx := context.Background()
	payments := locks.NewInterProcessSemaphore(client, "/payments", locks.SharedLimit("/config/payments", 2))

	two, err := payments.AcquireN(ctx, 2)
	if err != nil {
		panic(err)
	}
	defer two.Release(ctx)
	_, err = payments.TryAcquire(ctx)
	fmt.Println(errors.Is(err, locks.ErrNotAcquired))

	fmt.Println(locks.SetSharedLimit(ctx, client, "/config/payments", 3))
	third, err := payments.Acquire(ctx)
	fmt.Println(err, third.Release(ctx))
	// Output:
	// true
	// <nil>
	// <nil> <nil>
}

// A process follows the limit of a semaphore as a shared.Count. When the process raises
// the limit, a waiting acquire gets its lease.
func ExampleSharedLimit() {
	client, _, done := exampletest.Connect()
	defer done()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	payments := locks.NewInterProcessSemaphore(client, "/payments", locks.SharedLimit("/config/payments", 1))
	first, err := payments.Acquire(ctx)
	if err != nil {
		panic(err)
	}
	defer first.Release(ctx)

	limit, err := shared.NewCount(client, "/config/payments", 1)
	if err != nil {
		panic(err)
	}
	defer limit.Close()
	waiting := make(chan error)
	go func() {
		second, err := payments.Acquire(ctx)
		if err == nil {
			err = second.Release(ctx)
		}
		waiting <- err
	}()
	now, err := limit.Refresh(ctx)
	fmt.Println(now.Value, err)
	fmt.Println(limit.Set(ctx, 2), <-waiting)
	// Output:
	// 1 <nil>
	// <nil> <nil>
}

// A short job runs once in the fleet, even if the clocks of the processes differ.
func ExampleReleasePolicy_minimumHold() {
	client, srv, done := exampletest.Connect()
	defer done()
	ctx := context.Background()

	run := func(who string, client *framework.Client) {
		mutex := locks.NewInterProcessMutex(client, "/cron/report", locks.WithReleasePolicy(locks.ReleasePolicy{
			MinimumHold: 50 * time.Second,
		}))
		lease, err := mutex.TryAcquire(ctx)
		if err != nil {
			fmt.Println(who, "is refused:", errors.Is(err, locks.ErrNotAcquired))
			return
		}
		defer lease.Release(ctx)
		fmt.Println(who, "writes the report")
	}

	other, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()))
	if err != nil {
		panic(err)
	}
	defer other.Close()
	run("one", client)
	run("the other, whose clock is late,", other)
	run("one, again,", client)
	// Output:
	// one writes the report
	// the other, whose clock is late, is refused: true
	// one, again, is refused: true
}

// A worker takes the same lock repeatedly. As long as no other client wants the lock, only
// the first acquire costs requests.
func ExampleReleasePolicy_idle() {
	client, srv, done := exampletest.Connect()
	defer done()
	ctx := context.Background()

	mutex := locks.NewInterProcessMutex(client, "/locks/ledger-7", locks.WithReleasePolicy(locks.ReleasePolicy{
		MaxReuses: 1000, Idle: time.Minute,
	}))
	post := func(ctx context.Context) error { return nil }

	fmt.Println(mutex.Do(ctx, post))
	srv.ClearRequests()
	for range 100 {
		if err := mutex.Do(ctx, post); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(srv.CountRequests(zktest.OpAny), "requests for 100 more")

	other := locks.NewInterProcessMutex(client, "/locks/ledger-7") // without a policy, its release deletes the node
	fmt.Println(other.Do(ctx, post))
	// Output:
	// <nil>
	// 0 requests for 100 more
	// <nil>
}
