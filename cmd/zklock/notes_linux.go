package main

import (
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// writeFromBackground lets the calling goroutine write to the terminal although
// a command has it. After "stty tostop", the write would stop this program by
// SIGTTOU otherwise, and nobody would see that the lock is lost. A thread that
// blocks the signal may write. The goroutine keeps the thread.
func writeFromBackground() {
	runtime.LockOSThread()
	var set unix.Sigset_t
	const bit, bits = uint(syscall.SIGTTOU) - 1, uint(8 * unsafe.Sizeof(set.Val[0]))
	set.Val[bit/bits] |= 1 << (bit % bits)
	_ = unix.PthreadSigmask(unix.SIG_BLOCK, &set, nil)
}
