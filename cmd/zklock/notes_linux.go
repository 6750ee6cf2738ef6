package main

import (
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// writeFromBackground lets the calling goroutine write to the terminal although a
// command has it. Otherwise, after "stty tostop", the write would stop this program by
// SIGTTOU, and the program would not notice the loss of the lock. A thread that blocks
// the signal may write. The goroutine keeps its thread.
func writeFromBackground() {
	runtime.LockOSThread()
	var set unix.Sigset_t
	const bit, bits = uint(syscall.SIGTTOU) - 1, uint(8 * unsafe.Sizeof(set.Val[0]))
	set.Val[bit/bits] |= 1 << (bit % bits)
	_ = unix.PthreadSigmask(unix.SIG_BLOCK, &set, nil)
}
