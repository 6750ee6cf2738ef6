package leader_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// latch returns a latch that stands. It is shut down at the end of the test.
func latch(t *testing.T, c *framework.Client, path string, opts ...leader.Option) *leader.Latch {
	t.Helper()
	l, err := leader.NewLatch(c, path, opts...)
	require.NoError(t, err)
	t.Cleanup(func() { l.Shutdown(context.WithoutCancel(t.Context())) })
	return l
}

// await waits until a latch leads, and returns the lease.
func (w *world) await(t *testing.T, l *leader.Latch) *locks.Lease {
	t.Helper()
	lease, err := l.WaitLeadership(w.Patience(t))
	require.NoError(t, err)
	return lease
}
