//go:build linux || darwin

package suspension

import (
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// longest is the longest time that was measured.
var longest atomic.Int64

// Time returns for how long this machine has been suspended since it was
// started. It never becomes shorter.
func Time() time.Duration {
	// The process may have to wait for a processor between the two readings. In this
	// order, such a wait makes the measured time shorter and never longer, and the
	// next measurement corrects it.
	total := read(total)
	now := int64(total - read(awake))
	for {
		known := longest.Load()
		if now <= known || longest.CompareAndSwap(known, now) {
			return time.Duration(max(now, known))
		}
	}
}

func read(clock int32) time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(clock, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
