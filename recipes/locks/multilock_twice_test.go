package locks_test

import (
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/locks"
)

// A semaphore is not re-entrant. A multi-lock that wants more of one than there
// is would wait for itself.
func TestMultiLockThatWouldWaitForItselfIsRefused(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		one := locks.NewInterProcessSemaphoreMutex(c, "/s")
		same := locks.NewInterProcessSemaphoreMutex(c, "/s")
		two := func() locks.Locker { return locks.NewInterProcessSemaphore(c, "/two", locks.Limit(2)) }
		shared := func() locks.Locker {
			return locks.NewInterProcessSemaphore(c, "/shared", locks.SharedLimit("/limit", 2))
		}
		for name, multi := range map[string]*locks.InterProcessMultiLock{
			"twice":       locks.NewInterProcessMultiLock(one, one),
			"two objects": locks.NewInterProcessMultiLock(one, same),
			"nested":      locks.NewInterProcessMultiLock(one, locks.NewInterProcessMultiLock(same)),
			"too many":    locks.NewInterProcessMultiLock(two(), two(), two()),
		} {
			_, err := multi.Acquire(t.Context())
			require.ErrorIs(t, err, zk.ErrBadArguments, name)
		}
		mutex := locks.NewInterProcessMutex(c, "/m")
		for name, multi := range map[string]*locks.InterProcessMultiLock{
			"leases enough":             locks.NewInterProcessMultiLock(two(), two()),
			"a limit that others raise": locks.NewInterProcessMultiLock(shared(), shared()),
			"re-entrant":                locks.NewInterProcessMultiLock(mutex, mutex),
			"different paths":           locks.NewInterProcessMultiLock(one, locks.NewInterProcessSemaphoreMutex(c, "/t")),
		} {
			lease, err := multi.Acquire(w.Patience(t))
			require.NoError(t, err, name)
			require.NoError(t, lease.Release(t.Context()))
		}
	})
}
