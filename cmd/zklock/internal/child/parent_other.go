//go:build unix && !linux

package child

import (
	"os"
	"syscall"
)

// adoptOrphans is for Linux: elsewhere orphans go to the first process.
func adoptOrphans() {}

// dieWithThread is for Linux: elsewhere there is the guard alone.
func dieWithThread(*syscall.SysProcAttr) {}

func executable() (string, error) { return os.Executable() }
