package locktrace_test

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/exampletest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/locktrace"
)

// lostLocks is a hook that counts the locks that were lost.
type lostLocks struct{ n atomic.Int64 }

func (l *lostLocks) HoldEnded(_ locktrace.Acquire, _ locktrace.Hold, end locktrace.HoldEnd) {
	if end.Cause != locktrace.EndReleased {
		l.n.Add(1)
	}
}

func Example() {
	lost := &lostLocks{}
	client, srv, done := exampletest.Connect(framework.WithHooks(lost))
	lease, err := locks.NewInterProcessMutex(client, "/locks/sku-42").Acquire(context.Background())
	if err != nil {
		panic(err)
	}
	srv.Session(client.SessionID()).Expire()
	<-lease.Context().Done()
	done() // Close waits for the hooks
	fmt.Println(lost.n.Load())
	// Output: 1
}
