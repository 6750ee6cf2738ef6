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
