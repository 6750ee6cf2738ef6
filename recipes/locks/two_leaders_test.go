package locks_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/leadertest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// The reply to a contender's create is lost, and then a leader that has not
// applied the create says that there is no such node. The contender does not
// leave the node behind, which it and all others would wait for.
func TestContenderIsNotMisledByALeader(t *testing.T) {
	for name, tc := range map[string]struct {
		parent  string
		acquire func(t *testing.T, c *framework.Client) *locks.Lease
	}{
		"mutex": {"/l", func(t *testing.T, c *framework.Client) *locks.Lease {
			return acquired(t)(locks.NewInterProcessMutex(c, "/l").Acquire(t.Context()))
		}},
		"writer": {"/l", func(t *testing.T, c *framework.Client) *locks.Lease {
			return acquired(t)(locks.NewInterProcessReadWriteLock(c, "/l").WriteLock().Acquire(t.Context()))
		}},
		"reader": {"/l", func(t *testing.T, c *framework.Client) *locks.Lease {
			return acquired(t)(locks.NewInterProcessReadWriteLock(c, "/l").ReadLock().Acquire(t.Context()))
		}},
		"semaphore": {"/l/leases", func(t *testing.T, c *framework.Client) *locks.Lease {
			return acquired(t)(locks.NewInterProcessSemaphore(c, "/l", locks.Limit(1)).Acquire(t.Context()))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			first := func(t *testing.T, c *framework.Client) { // makes the parents
				require.NoError(t, tc.acquire(t, c).Release(t.Context()))
			}
			leadertest.AtEach(t, first, func(t *testing.T, l *leadertest.LostReply) {
				l.Lose(zktest.OpCreate)
				lease := tc.acquire(t, l.Client)
				require.Len(t, l.Nodes(tc.parent), 1)
				require.NoError(t, lease.Release(t.Context()))
				require.Empty(t, l.Nodes(tc.parent))
			})
		})
	}
}

func acquired(t *testing.T) func(*locks.Lease, error) *locks.Lease {
	t.Helper()
	return func(lease *locks.Lease, err error) *locks.Lease {
		t.Helper()
		require.NoError(t, err)
		return lease
	}
}
