//go:build real && linux

package interop_test

import "syscall"

// dieWithParent makes the kernel kill a server with the thread that has started it:
// a program that is killed, or that panics, has no time to do that.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
