package child

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// dieWithParent has this process get SIGTERM when the thread that has started
// it ends. It is for the calling thread.
func dieWithParent() {
	_ = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGTERM), 0, 0, 0) // the guard remains
}

// executable is this program, even if its file was replaced meanwhile.
func executable() (string, error) { return "/proc/self/exe", nil }
