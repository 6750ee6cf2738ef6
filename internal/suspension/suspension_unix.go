//go:build linux || darwin

package suspension

import (
	"time"

	"golang.org/x/sys/unix"
)

// Time returns for how long this machine has been suspended since it was
// started. It does not go backwards by more than the time that reading two
// clocks takes.
func Time() time.Duration {
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
	return max(best, 0)
}

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
