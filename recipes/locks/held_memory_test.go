//go:build !race

package locks_test

import (
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// Many programs make an object for each acquire.
func TestHeldLockDoesNotKeepItsObject(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		object, lease := holdByItself(t, c)
		time.Sleep(2 * time.Second)
		runtime.GC()
		require.Nil(t, object.Value())
		require.NoError(t, lease.Release(t.Context()))
	})
}

// holdByItself returns the lease of an object that nobody else refers to.
func holdByItself(t *testing.T, c *framework.Client) (weak.Pointer[locks.InterProcessMutex], *locks.Lease) {
	m := locks.NewInterProcessMutex(c, "/locks/a")
	return weak.Make(m), hold(t, t.Context(), m)
}

// A multi-lock is taken again and again under the lease of one of its locks, which is
// held for long. Each lease asks whether somebody wants the locks.
//
// Promise: A multi-lock that is released leaves nothing with a lock that stays held.
func TestMultiLockLeavesNothingWithALockThatStaysHeld(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		lease := hold(t, w.Patience(t), locks.NewInterProcessMutex(c, "/l/a"))
		both := locks.NewInterProcessMultiLock(locks.SortedMutexes(c, []string{"/l/a"})...)
		again := func(n int) {
			for range n {
				l := hold(t, lease.Context(), both)
				l.Revoked()
				require.NoError(t, l.Release(t.Context()))
			}
		}
		again(100)
		before, _ := stateOfProcess()
		again(10_000)
		after, _ := stateOfProcess()
		require.Less(t, after-before, 200e3)
		require.NoError(t, lease.Release(t.Context()))
	})
}
