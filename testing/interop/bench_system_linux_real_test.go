//go:build real && linux

package interop_test

import (
	"os"
	"syscall"
	"time"
	"unsafe"
)

// dieWithParent makes the kernel kill a server with the thread that has started it:
// a program that is killed, or that panics, has no time to do that.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// cpuTime returns the user and system time of this process so far.
func cpuTime() (time.Duration, error) {
	var use syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &use)
	return time.Duration(use.Utime.Nano() + use.Stime.Nano()), err
}

// alarm sleeps to within some microseconds. The runtime's own timers are late by up
// to a millisecond in a process that is idle.
type alarm struct {
	fd   uintptr
	file *os.File // with the runtime's poller
}

func newAlarm() (*alarm, error) {
	const monotonic = 1
	fd, _, errno := syscall.Syscall(syscall.SYS_TIMERFD_CREATE, monotonic, syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if errno != 0 {
		return nil, errno
	}
	return &alarm{fd, os.NewFile(fd, "timer")}, nil
}

func (a *alarm) sleep(d time.Duration) error {
	if d <= 0 {
		return nil
	}
	once := [2]syscall.Timespec{{}, syscall.NsecToTimespec(d.Nanoseconds())}
	_, _, errno := syscall.Syscall6(syscall.SYS_TIMERFD_SETTIME, a.fd, 0, uintptr(unsafe.Pointer(&once)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	_, err := a.file.Read(make([]byte, 8)) // blocks until the timer has fired
	return err
}

func (a *alarm) close() { a.file.Close() }
