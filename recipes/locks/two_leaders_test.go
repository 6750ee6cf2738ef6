package locks_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/leadertest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// The reply to a contender's create is lost, and then a leader that has not
// applied the create says that there is no such node. The contender asks for no
// second one, and does not leave the first behind, which it and all others would
// wait for.
func TestContenderIsNotMisledByALeader(t *testing.T) {
	for name, tc := range map[string]struct {
		parents []string
		lost    zktest.Op
		acquire func(t *testing.T, c *framework.Client) *locks.Lease
	}{
		"mutex": {[]string{"/l"}, zktest.OpCreate, func(t *testing.T, c *framework.Client) *locks.Lease {
			return acquired(t)(locks.NewInterProcessMutex(c, "/l").Acquire(t.Context()))
		}},
		"writer": {[]string{"/l"}, zktest.OpCreate, func(t *testing.T, c *framework.Client) *locks.Lease {
			return acquired(t)(locks.NewInterProcessReadWriteLock(c, "/l").WriteLock().Acquire(t.Context()))
		}},
		"reader": {[]string{"/l"}, zktest.OpCreate, func(t *testing.T, c *framework.Client) *locks.Lease {
			return acquired(t)(locks.NewInterProcessReadWriteLock(c, "/l").ReadLock().Acquire(t.Context()))
		}},
		"semaphore": {[]string{"/l/leases"}, zktest.OpCreate, func(t *testing.T, c *framework.Client) *locks.Lease {
			return acquired(t)(locks.NewInterProcessSemaphore(c, "/l", locks.Limit(1)).Acquire(t.Context()))
		}},
		"leases": {[]string{"/l/leases"}, zktest.OpMulti, func(t *testing.T, c *framework.Client) *locks.Lease {
			return acquired(t)(locks.NewInterProcessSemaphore(c, "/l", locks.Limit(1)).Acquire(t.Context()))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			first := func(t *testing.T, c *framework.Client) { // makes the parents
				require.NoError(t, tc.acquire(t, c).Release(t.Context()))
			}
			leadertest.AtEach(t, first, func(t *testing.T, l *leadertest.LostReply) {
				l.Lose(tc.lost)
				before := tries(l, tc.lost)
				lease := tc.acquire(t, l.Client)
				if name != "leases" { // those of a session that is lost cost another turn at the gate
					require.Equal(t, 1, tries(l, tc.lost)-before)
				}
				for _, parent := range tc.parents {
					require.Len(t, l.Nodes(parent), 1)
				}
				require.NoError(t, lease.Release(t.Context()))
				for _, parent := range tc.parents {
					require.Empty(t, l.Nodes(parent))
				}
			})
		})
	}
}

// tries counts how often nodes were to be made, by requests of this kind. A contender
// that is misled asks for second ones, and may have removed them when the test looks.
func tries(l *leadertest.LostReply, by zktest.Op) (n int) {
	for _, r := range zkinside.Of(l.Ens).AllRequests().([]zktest.Request) {
		if r.Op == by && r.Path != "/" { // or else it waits for a majority
			n++
		}
	}
	return n
}

func acquired(t *testing.T) func(*locks.Lease, error) *locks.Lease {
	t.Helper()
	return func(lease *locks.Lease, err error) *locks.Lease {
		t.Helper()
		require.NoError(t, err)
		return lease
	}
}
