//go:build unix

package main

import (
	"errors"
	"syscall"
)

// processExists reports whether there is a process with this id.
func processExists(pid int) bool {
	return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}
