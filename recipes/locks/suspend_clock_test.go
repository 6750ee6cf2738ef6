package locks_test

import (
	"sync/atomic"
	"time"
)

// suspendClock is a suspend clock of the user's. It calls a function the next time
// that it is asked.
type suspendClock struct{ next atomic.Pointer[func()] }

func (c *suspendClock) suspended() time.Duration {
	if do := c.next.Swap(nil); do != nil {
		(*do)()
	}
	return 0
}

// whenAsked has the clock call a function once.
func (c *suspendClock) whenAsked(do func()) { c.next.Store(&do) }
