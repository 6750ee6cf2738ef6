package locks_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// A request to make a node is under way when its caller gives up. So the client
// cannot delete the node before the caller's next request.
func TestTryAcquireIsNotRefusedByANodeThatWasBeingMade(t *testing.T) {
	writer := func(c *framework.Client) locks.Locker { return rwOf(c).WriteLock() }
	semaphore := func(c *framework.Client) locks.Locker { return locks.NewInterProcessSemaphore(c, "/l", locks.Limit(1)) }
	for name, of := range map[string]struct {
		lock func(c *framework.Client) locks.Locker
		path string // of the node that is being made
	}{
		"mutex":     {func(c *framework.Client) locks.Locker { return locks.NewInterProcessMutex(c, "/l") }, "/l"},
		"writer":    {writer, "/l"},
		"semaphore": {semaphore, "/l/locks"},
		"lease":     {semaphore, "/l/leases"},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, _ := w.Connect(t)
				for _, path := range []string{"/l", "/l/locks", "/l/leases"} {
					require.NoError(t, w.Fake.Create(path, nil))
				}
				making := zktest.Rule{Op: zktest.OpCreate, Path: of.path + "/*", Do: zktest.DelayRequest(2 * time.Second)}
				if name == "lease" {
					making.Op, making.Path = zktest.OpMulti, ""
				}
				w.Fake.Inject(making)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				_, err := of.lock(c).Acquire(ctx)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				lease, err := of.lock(c).TryAcquire(t.Context())
				require.NoError(t, err)
				require.NoError(t, lease.Release(t.Context()))
				synctest.Wait() // the client deletes the other node in the background
				for _, node := range append(w.Nodes(t, "/l/locks"), w.Nodes(t, of.path)...) {
					require.NotContains(t, node, "_c_")
				}
			})
		})
	}
}
