//go:build !linux

package zkserver

import "syscall"

// dieWithParent returns nothing: these systems do not offer it.
func dieWithParent() *syscall.SysProcAttr { return nil }
