//go:build unix && !linux

package child

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// dieWithParent is for Linux: elsewhere there is the guard alone.
func dieWithParent(*syscall.SysProcAttr) {}

func executable() (string, error) { return os.Executable() }

// parentOf is for Linux: elsewhere, the leader of the session stands for all that is
// above a process. It is 0 if there is none.
func parentOf(pid int) int {
	leader, err := unix.Getsid(pid)
	if err != nil || leader == pid {
		return 0
	}
	return leader
}
