package suspension

import "golang.org/x/sys/unix"

// awake stands still while the machine is suspended, and total does not.
const (
	awake = unix.CLOCK_UPTIME_RAW
	total = unix.CLOCK_MONOTONIC_RAW
)
