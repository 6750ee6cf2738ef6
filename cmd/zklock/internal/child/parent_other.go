//go:build unix && !linux

package child

import (
	"os"
	"syscall"
)

// dieWithParent is for Linux: elsewhere there are the guards alone.
func dieWithParent(*syscall.SysProcAttr) {}

func executable() (string, error) { return os.Executable() }
