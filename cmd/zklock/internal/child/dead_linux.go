package child

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// whenDead returns a channel that is closed when a process has ended, whether or
// not somebody has waited for it. It is nil if that cannot be known, as on Linux
// before 5.3.
func whenDead(pid int) <-chan struct{} {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil
	}
	dead := make(chan struct{})
	go func() { // it ends with the process
		defer unix.Close(fd)
		for {
			_, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)
			switch {
			case errors.Is(err, syscall.EINTR):
			case err == nil:
				close(dead)
				return
			default:
				return
			}
		}
	}()
	return dead
}
