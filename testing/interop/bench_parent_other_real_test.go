//go:build real && !linux

package interop_test

import "syscall"

// dieWithParent returns nil: other systems have nothing like it.
func dieWithParent() *syscall.SysProcAttr { return nil }
