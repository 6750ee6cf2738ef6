package claim

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
)

// The clock that tells of suspensions is the user's code. A hand-over asks it.
func TestNoMutexIsHeldWhileTheSuspendClockIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Pointer[watcher]
		locked := false
		c, _ := heldClaim(t, framework.WithSuspendClock(func() time.Duration {
			if w := asked.Load(); w != nil {
				if asked.Store(nil); w.mu.TryLock() {
					w.mu.Unlock()
				} else {
					locked = true
				}
			}
			return 0
		}))
		synctest.Wait() // nobody else asks now
		asked.Store(c.watcher)
		c.Successor()
		require.Nil(t, asked.Load())
		require.False(t, locked)
	})
}
