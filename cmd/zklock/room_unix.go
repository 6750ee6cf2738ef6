//go:build unix

package main

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// awaitRoom waits until a file takes more, or has an error for the next write.
func awaitRoom(f *os.File) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failure error
	err = raw.Control(func(fd uintptr) {
		failure = unix.EINTR
		for errors.Is(failure, unix.EINTR) {
			_, failure = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, -1)
		}
	})
	return errors.Join(err, failure)
}
