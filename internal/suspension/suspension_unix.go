//go:build linux || darwin

package suspension

import (
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// longest is the longest time that was measured. It is 0 before that, and not
// afterwards.
var longest atomic.Int64

// compared is what the clock total showed when it was last compared with the
// other.
var compared atomic.Int64

// Time returns for how long this machine has been suspended since it was
// started. It never becomes shorter. It may leave out the last 10 ms.
func Time() time.Duration {
	known := longest.Load()
	now := read(total)
	// The machine has not been asleep for longer than this clock has gone on.
	// Tests in virtual time ask many times in a millisecond.
	if known > 0 && now-time.Duration(compared.Load()) < negligible {
		return time.Duration(known)
	}
	// Not before the result is in longest: others return that until then.
	defer compared.Store(int64(now))
	// If the process waits for a processor between these readings, they show too
	// short a time, and never too long a one.
	if shown := now - read(awake); known > 0 && shown < time.Duration(known)+quick {
		return time.Duration(known)
	}
	for now := int64(measure()); ; known = longest.Load() {
		if now <= known || longest.CompareAndSwap(known, now) {
			return time.Duration(max(now, known))
		}
	}
}

// measure returns the best of several measurements. It is above 0.
func measure() time.Duration {
	best, shortest := time.Duration(0), time.Duration(-1)
	for range maxReadings {
		before, t, after := read(awake), read(total), read(awake)
		took := after - before
		if shortest < 0 || took < shortest {
			best, shortest = t-before-took/2, took
		}
		if shortest < quick {
			break
		}
	}
	return max(best, 1)
}

// negligible is short beside any suspension.
const negligible = 10 * time.Millisecond

// Between two readings the process may have to wait for a processor. That must
// not look like a suspension.
const (
	maxReadings = 10
	quick       = 100 * time.Microsecond
)

func read(clock int32) time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(clock, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
