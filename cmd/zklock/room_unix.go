//go:build unix

package main

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// awaitRoom waits until a file takes more, or has an error for the next write.
func awaitRoom(f *os.File) error { return await(f, unix.POLLOUT) }

// awaitInput waits until a file has something to read, its end, or an error.
func awaitInput(f *os.File) error { return await(f, unix.POLLIN) }

func await(f *os.File, events int16) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failure error
	err = raw.Control(func(fd uintptr) {
		failure = unix.EINTR
		for errors.Is(failure, unix.EINTR) {
			_, failure = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: events}}, -1)
		}
	})
	return errors.Join(err, failure)
}
