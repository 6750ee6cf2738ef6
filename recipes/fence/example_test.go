package fence_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/gocurator/curator/internal/exampletest"
	"github.com/gocurator/curator/recipes/fence"
	"github.com/gocurator/curator/recipes/locks"
)

// A holder is paused for so long that its session ends and the next holder begins. When
// the paused holder writes, the resource refuses the write.
func Example() {
	client, srv, done := exampletest.Connect()
	defer done()
	ctx := context.Background()
	mutex := locks.NewInterProcessMutex(client, "/locks/store")

	var guard fence.Guard // belongs to the resource
	write := func(lease *locks.Lease, item string) error {
		return guard.Do(lease.FencingToken(), func() error {
			fmt.Println("stored", item)
			return nil
		})
	}

	paused, err := mutex.Acquire(ctx)
	if err != nil {
		panic(err)
	}
	fmt.Println(write(paused, "first"))
	srv.Session(client.SessionID()).Expire() // the servers end the session
	next, err := mutex.Acquire(ctx)
	if err != nil {
		panic(err)
	}
	defer next.Release(ctx)
	fmt.Println(write(next, "second"))
	fmt.Println("stale:", errors.Is(write(paused, "late"), fence.ErrStale))
	// Output:
	// stored first
	// <nil>
	// stored second
	// <nil>
	// stale: true
}
